/** Skills in the shapes in which they are published for programs like this one, as they come. */

import type { SetUp } from "./fixture.ts";

/** For assistants of the common format: what it may be used for, by whose licence, with files beside it. */
const spreadsheets = `---
name: spreadsheet-report
description: "Turns a table (.csv, .xlsx) into a report with totals and charts. Use when the user asks for: (1) a summary of figures, (2) a chart, or (3) 'the monthly report'"
license: Complete terms in LICENSE.txt
allowed-tools: Bash(python3:*), Read, Write
version: 1.4.0
compatibility: needs python3
metadata:
  author: someone
  category: office
user-invocable: true
---

# Reports from tables

Read [the styles](references/styles.md) first, then run \`scripts/report.py table.csv\`.
`;

/** With what it needs as JSON on one line. */
const mail = `---\r
name: mail-box\r
description: Read and answer mail from the command line.\r
homepage: https://mail.example/\r
metadata: {"openclaw":{"emoji":"📧","os":["darwin","linux"],"requires":{"bins":["mailer"],"anyBins":["gpg","gpg2"],"env":["MAIL_TOKEN"],"config":["mail.account"]},"primaryEnv":"MAIL_TOKEN","install":[{"id":"brew","kind":"brew","formula":"mailer","bins":["mailer"],"label":"Install mailer (brew)"}]}}\r
---\r
\r
# Mail\r
\r
\`mailer list --unread\`\r
`;

/** With a map of our own, over many lines, and folders below folders. */
const home = `---
# what the agent sees first
name: home-control
description: >-
  Switches lamps and heating,
  and says how warm it is.
always: false
metadata:
  nanobot:
    emoji: "🏠"
    always: true
    requires:
      bins: [curl]
      env:
        - HOME_HUB
    install:
      - { id: apt, kind: apt, package: curl }
  openclaw:
    requires: { bins: [never-asked-for] }
---
Lamps are in references/rooms/lamps.md.
`;

export const published: NonNullable<SetUp["own"]> = {
  "spreadsheet-report/SKILL.md": spreadsheets,
  "spreadsheet-report/LICENSE.txt": "All rights to everybody.",
  "spreadsheet-report/references/styles.md": "# Styles",
  "spreadsheet-report/scripts/report.py": "#!/usr/bin/env python3\nprint('report')\n",
  "mail-box/SKILL.md": mail,
  "mail-box/_meta.json": "{}",
  "home-control/SKILL.md": home,
  "home-control/references/rooms/lamps.md": "# Lamps",
  "home-control/scripts/lib/hub.sh": "#!/bin/sh\n",
};
