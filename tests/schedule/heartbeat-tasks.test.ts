import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { tasksOf } from "../../src/schedule/heartbeat-tasks.ts";

const template = readFileSync(resolve(import.meta.dir, "../../workspace/HEARTBEAT.md"), "utf8");

/** In the shape of the original's templates: sentences, and headings over comments. */
const original = [
  "# Heartbeat Tasks",
  "",
  "This file is checked every 30 minutes by your agent.",
  "Add tasks below that you want to have done.",
  "",
  "If this file has no tasks (only headers), nothing happens.",
  "",
  "## Active Tasks",
  "",
  "<!-- Your tasks below this line -->",
  "",
  "",
  "## Completed",
  "",
  "<!-- Move what is done",
  "     to here -->",
].join("\n");

describe("tasksOf()", () => {
  test.each([
    ["nothing", ""],
    ["the unedited template", template],
    ["a template of the original", original],
    ["a template of the original without its headings", original.replace(/^#.*$/gm, "")],
    ["headings", "# One\n## Two\n###### Six\n  # Indented\n##No space"],
    ["a heading that is underlined", "Heartbeat\n=========\n\nAgain\n-----"],
    ["a comment", "<!-- check the mail -->"],
    ["a comment over several lines", "<!--\n- check the mail\n\n- and the news\n-->"],
    ["a comment that nobody closed", "# Tasks\n<!-- not now:\n- check the mail\n## Active Tasks\n- more"],
    ["comments around nothing", "<!-- a --> <!-- b --> <!--> <!---> <!-- c\n d -->  "],
    ["bare checkboxes", "- [ ]\n* [ ]\n+ [ ] \n- [x]\n1. [ ]\n[ ]\n-[ ]\n- []\n> - [ ]"],
    ["blank bullets", "-\n*\n+ \n1.\n2)\n•\n- -"],
    ["rules", "---\n\n***\n\n___\n\n- - -\n\n* * *"],
    ["marks without a word", ">\n```\n```\n|---|---|\n-->\n**"],
    ["what is ticked", "- [x] buy milk\n* [X] call home\n- [✓] water the plants\n- [ x ] pay"],
    ["the rest of what is ticked", "- [x] buy milk\n  at the corner\n\n  - two bottles\n    of glass"],
    ["fullwidth marks", "－ ［ ］\n＊ ［ｘ］ done\n＃ Heading\n\u3000\u3000\n・"],
    ["marks with invisible characters", "-\u00a0[\u00a0]\n\u200b\n- [\u2060 ]\n- [✔\ufe0f] done"],
    ["front matter", "---\ntitle: Heartbeat\ntags:\n  - a\n- b\n---\n# Heartbeat\n"],
    ["a tag of HTML that is a comment in one line, and code fences of nothing", "<!-- x -->\n~~~\n\n~~~"],
  ])("finds no task in %s", (_, text) => {
    expect(tasksOf(text, template)).toEqual([]);
    expect(tasksOf(`\ufeff${text.replaceAll("\n", "\r\n")}`, template)).toEqual([]);
  });

  test("finds no task in headings, comments, empty checkboxes and an edited sentence outside Active Tasks", () => {
    const edited = original
      .replace("every 30 minutes by your agent", "now and then, I believe")
      .replace("## Completed", "- [ ]\n* [ ]\n\n## Completed");
    expect(tasksOf(edited, template)).toEqual([]);
  });

  test("finds no task in a template whose comment lost its marks", () => {
    const broken = template.replaceAll("<!--", "").replaceAll("-->", "");
    expect(tasksOf(broken, template)).toEqual([]);
    expect(tasksOf(template.toUpperCase().replaceAll(". ", ".  "), template)).toEqual([]);
  });

  test.each([
    "## Active Tasks",
    "# ACTIVE TASKS (mine)",
    "### **Active  tasks**:",
    "##📌 Active Tasks",
    "## 1. Active Tasks",
    "## 活动任务",
    "＃＃ Ａctive Tasks",
    "Active Tasks\n============",
  ])("counts only what stands under %j", (heading) => {
    const text = `# Notes\n\nSome thoughts.\n\n${heading}\n\n- check the mail\n\nand the news\n\n# Later\n\n- paint the house\n`;
    expect(tasksOf(text, template)).toEqual(["- check the mail", "and the news"]);
  });

  test("counts everywhere when no heading says Active Tasks", () => {
    expect(tasksOf("Look at the build.\n\n- and the mail\n1. first\n> quoted\n[ ] bare box")).toEqual([
      "Look at the build.",
      "- and the mail",
      "1. first",
      "> quoted",
      "[ ] bare box",
    ]);
  });

  test("counts everywhere when words about active tasks are in no heading", () => {
    expect(tasksOf("Active Tasks\n\n- one\n#Active Tasks is a tag")).toEqual([
      "Active Tasks",
      "- one",
      "#Active Tasks is a tag",
    ]);
  });

  test("goes on under deeper headings, and ends at one of the same level or a higher one", () => {
    const text =
      "## Active Tasks\n- a\n### On Mondays\n- b\n#### Never\n### On Fridays\n- c\n## Done\n- d\n### e\n- f\n## Active Tasks, more\n- g\n# h\n- i";
    expect(tasksOf(text)).toEqual(["- a", "### On Mondays", "- b", "### On Fridays", "- c", "- g"]);
  });

  test("shows a heading once, and none that nothing stands under", () => {
    expect(tasksOf("# A\n## B\n- 1\n- 2\n## C\n<!-- - 3 -->\n## D\n- 4")).toEqual([
      "# A",
      "## B",
      "- 1",
      "- 2",
      "## D",
      "- 4",
    ]);
  });

  test("keeps what stands above a rule of three dashes", () => {
    expect(tasksOf("Check the mail\n---\nand the news\n***")).toEqual(["Check the mail", "and the news"]);
    expect(tasksOf("---\n- check the mail\n---\n- and the news")).toEqual([
      "- check the mail",
      "- and the news",
    ]);
  });

  test("takes an underlined line of several, or of a list, for what it is", () => {
    expect(tasksOf("one\ntwo\n-----")).toEqual(["one", "two"]);
    expect(tasksOf("- three\n-----")).toEqual(["- three"]);
  });

  test("finds tasks beside comments, and no comment in code", () => {
    expect(
      tasksOf("- check <!-- daily --> the mail\n<!-- a\n--> - b\n- look for `<!--` in it\n- and ``` so"),
    ).toEqual(["- check  the mail", " - b", "- look for `<!--` in it", "- and ``` so"]);
    expect(tasksOf("<!-->\n- one\n<!--->\n- two")).toEqual(["- one", "- two"]);
    expect(tasksOf("```uptime``` tells it\n<!-- - one -->")).toEqual(["```uptime``` tells it"]);
    expect(tasksOf("- one ` <!-- gone -->\n- two")).toEqual(["- one `", "- two"]);
  });

  test("takes what is in a code fence as it stands", () => {
    const text =
      "## Active Tasks\n- run this:\n  ```sh\n  # not a heading\n  <!-- nor a comment\n  ```\n- and this\n~~~~\n~~~\n```\n# more\n~~~~\n# end\nno task";
    expect(tasksOf(text)).toEqual([
      "- run this:",
      "  # not a heading",
      "  <!-- nor a comment",
      "- and this",
      "# more",
    ]);
  });

  test("finds an open task below one that is ticked", () => {
    expect(
      tasksOf("- [x] trip\n  - [ ] book the train\n  - [x] ask for leave\n    by mail\n- [ ] pack"),
    ).toEqual(["  - [ ] book the train", "- [ ] pack"]);
    expect(tasksOf("- [x] done\nno part of it")).toEqual(["no part of it"]);
  });

  test("takes a box with another sign for an open task", () => {
    expect(tasksOf("- [/] half\n- [!] urgent\n- [x](https://example.org) a link\n- [1] one")).toHaveLength(4);
  });

  test("finds tasks in any language, and in a picture", () => {
    const lines = ["- メールを確認する", "- проверь почту", "- ตรวจสอบอีเมล", "- 📧", "- ５時に電話"];
    expect(tasksOf(`## Active Tasks\n${lines.join("\n")}`, template)).toEqual(lines);
  });

  test("takes a header of something else for text", () => {
    expect(tasksOf("---\ntitle: x\ncheck the mail\n---")).toEqual(["title: x", "check the mail"]);
    expect(tasksOf("---\ntitle: never closed\n- check the mail")).toContain("- check the mail");
  });

  const pieces = fc.constantFrom(
    ..."# |## |### |Active Tasks|- |* |[ ]|[x] |<!--|-->|`|```|~~~|\n|\r\n|\r|---|===|task|  |> |1. |title: |\u200b|＃|🙂".split(
      "|",
    ),
  );
  const files = fc.array(pieces, { maxLength: 60 }).map((all) => all.join(""));

  test("gives lines that are in the file, for any file", () => {
    fc.assert(
      fc.property(fc.oneof(files, fc.string({ unit: "binary", maxLength: 200 })), (text) => {
        const without = (line: string) => line.replace(/\s+/g, "");
        for (const line of tasksOf(text, template)) {
          expect(line.trim()).not.toBe("");
          // Comments within a line are taken out of it.
          const rest = without(line);
          let at = 0;
          for (const character of without(text))
            if (at < rest.length && rest.startsWith(character, at)) at += character.length;
          expect(at).toBe(rest.length);
        }
      }),
    );
  });

  test("is the same with any ends of lines and with a byte order mark", () => {
    const bare = files.map((text) => text.replaceAll("\r", ""));
    fc.assert(
      fc.property(bare, fc.constantFrom("\r\n", "\r"), (text, end) => {
        expect(tasksOf(`\ufeff${text.replaceAll("\n", end)}`)).toEqual(tasksOf(text));
      }),
    );
  });

  test("finds no task in any part of the template, and one in any with a task added under Active Tasks", () => {
    const lines = template.split("\n");
    fc.assert(
      fc.property(fc.subarray(lines), (some) => {
        expect(tasksOf(some.join("\n"), template)).toEqual([]);
      }),
    );
    expect(tasksOf(`${template}\n- Tell me when it rains\n`, template)).toEqual(["- Tell me when it rains"]);
  });
});
