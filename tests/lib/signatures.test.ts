import { describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import {
  isSameSecret,
  isStandardSecret,
  signGithub,
  signSlack,
  signStandardWebhooks,
  type Verdict,
  verifyBearer,
  verifyGithub,
  verifySlack,
  verifyStandardWebhooks,
} from "../../src/lib/signatures.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

interface Sample {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Seconds. */
  readonly signedAt: number;
  /** The header of the time, where the scheme has one. */
  readonly timeHeader?: string;
  readonly signatureHeader: string;
  verify(headers: Headers, body: Uint8Array, seconds: number): Verdict;
}

const slackSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** As the platforms publish them. */
const samples: Readonly<Record<string, Sample>> = {
  Slack: {
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    body: bytes(
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    ),
    signedAt: 1_531_420_618,
    timeHeader: "x-slack-request-timestamp",
    signatureHeader: "x-slack-signature",
    verify: (headers, body, seconds) =>
      verifySlack({ headers, body }, { secret: slackSecret, now: seconds * 1000 }),
  },
  GitHub: {
    headers: {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
    body: bytes("Hello, World!"),
    signedAt: 0,
    signatureHeader: "x-hub-signature-256",
    verify: (headers, body) => verifyGithub({ headers, body }, { secret: "It's a Secret to Everybody" }),
  },
  "Standard Webhooks": {
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    body: bytes('{"test": 2432232314}'),
    signedAt: 1_614_265_330,
    timeHeader: "webhook-timestamp",
    signatureHeader: "webhook-signature",
    verify: (headers, body, seconds) =>
      verifyStandardWebhooks({ headers, body }, { secret: standardSecret, now: seconds * 1000 }),
  },
};

for (const [scheme, sample] of Object.entries(samples)) {
  const { headers, body, signedAt, timeHeader, signatureHeader } = sample;
  const verify = (
    changed: Readonly<Record<string, string>>,
    ofBody: Uint8Array = body,
    seconds: number = signedAt,
  ) => sample.verify(new Headers({ ...headers, ...changed }), ofBody, seconds);
  const without = (name: string) => {
    const left = new Headers(headers);
    left.delete(name);
    return sample.verify(left, body, signedAt);
  };
  const signature = headers[signatureHeader] ?? "";

  describe(`the signature of ${scheme}`, () => {
    test("is taken as the platform publishes it", () => {
      expect(verify({})).toBe("ok");
    });

    test("is refused when any bit of the body is another", () => {
      for (let bit = 0; bit < body.length * 8; bit++) {
        const changed = body.slice();
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(verify({}, changed)).toBe("bad");
      }
    });

    test("is refused when the body is shorter, longer or empty", () => {
      for (const changed of [
        body.slice(1),
        body.slice(0, -1),
        Buffer.concat([body, bytes("\n")]),
        bytes(""),
      ]) {
        expect(verify({}, changed)).toBe("bad");
      }
    });

    test("is refused when any of its characters is another, missing or doubled", () => {
      for (let at = 0; at < signature.length; at++) {
        const [start, end] = [signature.slice(0, at), signature.slice(at + 1)];
        const letter = signature[at] ?? "";
        for (const other of ["0", "1", "f", "A", "/", "="].filter(
          (one) => one.toLowerCase() !== letter.toLowerCase(),
        )) {
          expect(verify({ [signatureHeader]: start + other + end })).toBe("bad");
        }
        // The padding says nothing, and may be left out.
        if (letter !== "=") expect(verify({ [signatureHeader]: start + end })).toBe("bad");
        expect(verify({ [signatureHeader]: start + letter + letter + end })).toBe("bad");
      }
    });

    test("is refused as any other text", () => {
      const word = fc.string().map((text) => text.replace(/[^\x21-\x7e]/g, ""));
      fc.assert(
        fc.property(fc.array(word), (words) => {
          const given = words.join(" ").trim();
          const verdict = verify({ [signatureHeader]: given });
          expect(verdict).toBe(given === "" ? "missing" : "bad");
        }),
      );
    });

    test("is refused when the header was sent twice and neither is right", () => {
      const twice = new Headers(headers);
      twice.set(signatureHeader, signature.replace(/.{6}$/, "AAAAAA"));
      twice.append(signatureHeader, signature.replace(/.{6}$/, "BBBBBB"));
      expect(sample.verify(twice, body, signedAt)).toBe("bad");
    });

    test("is missing without its headers", () => {
      for (const name of Object.keys(headers)) {
        expect(without(name)).toBe("missing");
        expect(verify({ [name]: "" })).toBe("missing");
      }
    });

    if (timeHeader === undefined) return;

    test("is stale more than five minutes before and after its time", () => {
      for (const away of [-300, -299, 0, 299, 300]) expect(verify({}, body, signedAt + away)).toBe("ok");
      for (const away of [-301, -86_400, 301, 86_400])
        expect(verify({}, body, signedAt + away)).toBe("stale");
      expect(verify({}, body, signedAt + 300.5)).toBe("stale");
    });

    test("is bad, and not stale, when it is old and wrong", () => {
      expect(verify({}, bytes("other"), signedAt + 86_400)).toBe("bad");
    });

    for (const time of [
      ...["NaN", "Infinity", "-1531420618", "+1531420618", "1531420618.0", "1.5e9", "0x5b47a24a", "1e3"],
      ...["9999999999999999", "1531420618, 1531420618", "1531420618 1", "yesterday", "٣", "1_531_420_618"],
    ]) {
      test(`is bad with the time ${JSON.stringify(time)}`, () => {
        expect(verify({ [timeHeader]: Buffer.from(time).toString("latin1") })).toBe("bad");
      });
    }

    test("is bad with another time than the one that was signed", () => {
      expect(verify({ [timeHeader]: String(signedAt + 1) })).toBe("bad");
      expect(verify({ [timeHeader]: `0${signedAt}` })).toBe("bad");
    });
  });
}

describe("verifySlack() and verifyGithub()", () => {
  test("take hex in any case", () => {
    for (const [scheme, prefix] of [
      ["Slack", "v0="],
      ["GitHub", "sha256="],
    ] as const) {
      const { headers, body, signedAt, signatureHeader, verify } = samples[scheme] as Sample;
      const upper = (headers[signatureHeader] ?? "").slice(prefix.length).toUpperCase();
      const signed = { ...headers, [signatureHeader]: prefix + upper };
      expect(verify(new Headers(signed), body, signedAt)).toBe("ok");
    }
  });

  test("take nothing for an empty secret", () => {
    const body = bytes("x");
    const slack = new Headers(signSlack(body, { secret: "", now: 0 }));
    expect(verifySlack({ headers: slack, body }, { secret: "", now: 0 })).toBe("bad");
    const github = new Headers(signGithub(body, { secret: "" }));
    expect(verifyGithub({ headers: github, body }, { secret: "" })).toBe("bad");
  });
});

describe("verifyGithub()", () => {
  test("does not look at the older signature by SHA-1", () => {
    const headers = new Headers({ "x-hub-signature": "sha1=0000000000000000000000000000000000000000" });
    expect(verifyGithub({ headers, body: bytes("x") }, { secret: "s" })).toBe("missing");
  });

  // RFC 4231, test case 2.
  test("uses HMAC-SHA256 as the standard has it", () => {
    const mac = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    expect(signGithub(bytes("what do ya want for nothing?"), { secret: "Jefe" })).toEqual({
      "x-hub-signature-256": `sha256=${mac}`,
    });
  });
});

describe("verifyStandardWebhooks()", () => {
  const { headers, body, signedAt } = samples["Standard Webhooks"] as Sample;
  const signature = headers["webhook-signature"] ?? "";
  const now = signedAt * 1000;
  const verify = (changed: Readonly<Record<string, string>>, secret = standardSecret) =>
    verifyStandardWebhooks({ headers: new Headers({ ...headers, ...changed }), body }, { secret, now });
  const wrong = `v1,${Buffer.alloc(32).toString("base64")}`;

  test("takes one right signature among several", () => {
    for (const given of [
      `${wrong} ${signature}`,
      `${signature} ${wrong}`,
      `v1a,${Buffer.alloc(64).toString("base64")} ${signature}`,
      `nonsense ${signature}`,
    ]) {
      expect(verify({ "webhook-signature": given })).toBe("ok");
    }
  });

  test("takes only version 1, and commas do not separate", () => {
    const bare = signature.slice("v1,".length);
    for (const given of [bare, `v2,${bare}`, `V1,${bare}`, `v1${bare}`, `${wrong},${signature}`, wrong]) {
      expect(verify({ "webhook-signature": given })).toBe("bad");
    }
  });

  test("takes the secret with and without its prefix, and no other", () => {
    expect(verify({}, standardSecret.slice("whsec_".length))).toBe("ok");
    const others = ["", "whsec_", "whsec_!!!", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", "WHSEC_MfKQ", "=="];
    for (const secret of others) expect(verify({}, secret)).toBe("bad");
  });

  test("takes no id with a dot, which would move what was signed into the id", () => {
    const whole = bytes("1700000000.5");
    const signed = signStandardWebhooks(whole, { id: "a", secret: standardSecret, now });
    const moved = {
      ...signed,
      "webhook-id": `a.${signed["webhook-timestamp"]}`,
      "webhook-timestamp": "1700000000",
    };
    const verdict = verifyStandardWebhooks(
      { headers: new Headers(moved), body: bytes("5") },
      { secret: standardSecret, now: 1_700_000_000_000 },
    );
    expect(verdict).toBe("bad");
  });

  test("takes no other id than the one that was signed", () => {
    expect(verify({ "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJel" })).toBe("bad");
  });
});

describe("isStandardSecret()", () => {
  test("tells a secret that can sign from one that cannot", () => {
    expect(isStandardSecret(standardSecret)).toBe(true);
    for (const secret of ["", "whsec_", "whsec_ä", "not base64 at all", "whsec_AB-_"]) {
      expect(isStandardSecret(secret)).toBe(false);
    }
  });
});

describe("signStandardWebhooks()", () => {
  test("makes the published signature", () => {
    const { headers, body, signedAt } = samples["Standard Webhooks"] as Sample;
    const id = headers["webhook-id"] ?? "";
    expect(signStandardWebhooks(body, { id, secret: standardSecret, now: signedAt * 1000 + 999 })).toEqual(
      headers,
    );
  });

  test("throws for a secret that is none", () => {
    expect(() => signStandardWebhooks(bytes(""), { id: "a", secret: "???", now: 0 })).toThrow("Cannot sign");
  });
});

describe("signSlack()", () => {
  test("makes the published signature", () => {
    const { headers, body, signedAt } = samples["Slack"] as Sample;
    expect(signSlack(body, { secret: slackSecret, now: signedAt * 1000 })).toEqual(headers);
  });
});

test("what is signed is taken, whatever the bytes are, and no other bytes are", () => {
  const now = 1_700_000_000_000;
  const secret = `whsec_${Buffer.from("0123456789abcdef").toString("base64")}`;
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 200 }), (body, other) => {
      const isOther = Buffer.compare(body, other) !== 0;
      const slack = new Headers(signSlack(body, { secret, now }));
      const github = new Headers(signGithub(body, { secret }));
      const standard = new Headers(signStandardWebhooks(body, { id: "a", secret, now }));
      for (const [verify, headers] of [
        [verifySlack, slack],
        [verifyGithub, github],
        [verifyStandardWebhooks, standard],
      ] as const) {
        expect(verify({ headers, body }, { secret, now })).toBe("ok");
        if (isOther) expect(verify({ headers, body: other }, { secret, now })).toBe("bad");
      }
    }),
  );
});

describe("verifyBearer()", () => {
  const verify = (authorization: string, token = "s3cret-tökén") =>
    verifyBearer(new Headers({ authorization: Buffer.from(authorization).toString("latin1") }), token);

  test("takes the token, whatever the case of the scheme", () => {
    for (const given of ["Bearer abc", "bearer abc", "BEARER  abc"]) expect(verify(given, "abc")).toBe("ok");
  });

  test("refuses any other", () => {
    for (const given of [
      ...["Bearer ab", "Bearer abcd", "Bearer ABC", "Bearer abc abc", "Bearer abc, Bearer abc", "Bearerabc"],
      ...["abc", "Basic abc", "Bearer", "Token abc", "Bearer \u0000abc".replace("\u0000", "")].filter(
        (text) => text !== "Bearer abc",
      ),
    ]) {
      expect(verify(given, "abc")).toBe("bad");
    }
  });

  test("is missing without the header, and bad for an empty token", () => {
    expect(verifyBearer(new Headers(), "abc")).toBe("missing");
    expect(verify("", "abc")).toBe("missing");
    expect(verify("Bearer ", "")).toBe("bad");
    expect(verifyBearer(new Headers(), "")).toBe("missing");
  });
});

test("isSameSecret() compares secrets of any length, and no secret is like none", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(isSameSecret(a, a)).toBe(a !== "");
      expect(isSameSecret(a, b)).toBe(a !== "" && a.toWellFormed() === b.toWellFormed());
    }),
  );
});
