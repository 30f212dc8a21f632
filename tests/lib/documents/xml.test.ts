import { expect, test } from "bun:test";
import fc from "fast-check";
import { readXml } from "../../../src/lib/documents/xml.ts";

/** What a listener hears, the text of one place as one. */
function heard(pieces: readonly Uint8Array[], wanted = "k"): readonly string[] {
  const said: string[] = [];
  let text = "";
  const flush = () => {
    if (text !== "") said.push(`"${text}"`);
    text = "";
  };
  readXml(pieces, {
    open(name, attribute) {
      flush();
      said.push(`<${name} ${attribute(wanted) ?? "-"}>`);
    },
    close(name) {
      flush();
      said.push(`</${name}>`);
    },
    text(piece) {
      text += piece;
    },
  });
  flush();
  return said;
}

const encode = (text: string) => new TextEncoder().encode(text);

test.each([
  { xml: "<a>x</a>", events: ["<a ->", '"x"', "</a>"] },
  { xml: "<w:a k='1'/>", events: ["<a 1>", "</a>"] },
  { xml: '<a b="k=2" k = "x > y"/>', events: ["<a x > y>", "</a>"] },
  { xml: '<a b=\' k="no"\' k="yes"></a>', events: ["<a yes>", "</a>"] },
  { xml: '<a k="&lt;&quot;&#9;"/>', events: ['<a <"\t>', "</a>"] },
  { xml: "<?xml version='1.0'?><!-- <b> > --><a/>", events: ["<a ->", "</a>"] },
  { xml: "<a><![CDATA[<b> & ]]>c</a>", events: ["<a ->", '"<b> & c"', "</a>"] },
  { xml: "<a>R&D &amp;&nbsp;&#x20AC;</a>", events: ["<a ->", '"R&D &&nbsp;€"', "</a>"] },
  { xml: "<a>open", events: ["<a ->", '"open"'] },
  { xml: "<a>x</a><b", events: ["<a ->", '"x"', "</a>"] },
])("readXml() tells what is in $xml", ({ xml, events }) => {
  expect(heard([encode(xml)])).toEqual(events);
});

test("readXml() finds an attribute by its whole name, or by its last part", () => {
  const tag = encode('<s id="1" r:id="2"/>');
  expect(heard([tag], "id")[0]).toBe("<s 1>");
  expect(heard([tag], "r:id")[0]).toBe("<s 2>");
  expect(heard([tag], "*:id")[0]).toBe("<s 2>");
});

test("readXml() tells the same however the bytes are cut", () => {
  const token = fc.constantFrom(
    "<a>",
    "</a>",
    "<b k='é>'/>",
    "<!-- c -->",
    "<![CDATA[d&]]>",
    "<?p?>",
    "&amp;",
    "&#x1F600;",
    "&",
    ";",
    "é😀",
    "x y",
    ">",
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 20 }), fc.array(fc.nat(200)), (tokens, cuts) => {
      const bytes = encode(tokens.join(""));
      const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b);
      const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      expect(heard(pieces)).toEqual(heard([bytes]));
    }),
    { numRuns: 500 },
  );
});

test("readXml() stops after the piece that was enough", () => {
  const said: string[] = [];
  const pieces = ["<a/>", "<b/>", "<c/>"].map(encode);
  readXml(pieces, { open: (name) => void said.push(name) }, () => said.length > 1);
  expect(said).toEqual(["a", "b"]);
});

test("readXml() takes a long word in a tag no worse than any other", () => {
  const xml = `<a ${"x".repeat(1_000_000)} k="found"/>`;
  expect(heard([encode(xml)])).toEqual(["<a found>", "</a>"]);
});
