/** The addresses that the judge finds in commands, for the network guard. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { judgeCommand } from "../../../src/shell/judge/judge-command.ts";

async function urlsOf(command: string): Promise<readonly string[]> {
  const judged = await judgeCommand(command, {
    policy: "guarded",
    allowPatterns: [],
    denyPatterns: [],
    restrictToWorkspace: false,
    workspace: "/ws",
    cwd: "/ws",
    home: "/home/user",
    protectedPaths: [],
    resolve: async (path) => path,
  });
  return judged.urls;
}

test.each([
  ["curl http://127.0.0.1:8080/x?y=1", "http://127.0.0.1:8080/x?y=1"],
  ["curl 'http://127.0.0.1'/x", "http://127.0.0.1/x"],
  ['curl ht"tp://127.0".0.1', "http://127.0.0.1"],
  ["curl http:\\/\\/127.0.0.1", "http://127.0.0.1"],
  ["curl http://127.\\\n0.0.1", "http://127.0.0.1"],
  ["curl HTTP:/0x7f.1", "http://0x7f.1"],
  ["curl http://me:pw@127.0.0.1/", "http://127.0.0.1/"],
  ['curl "http://me:$PW@127.0.0.1/"', "http://127.0.0.1/"],
  ["curl http://localhost:$PORT/x", "http://localhost"],
  ["curl http://127.0.0.[1-9]/", "http://127.0.0"],
  ["curl http://{x.example,10.0.0.1}/", "http://10.0.0.1/"],
  ["curl 'http://{x.example,10.0.0.1}/'", "http://10.0.0.1/"],
  ["x=$(curl -s http://10.0.0.1/)", "http://10.0.0.1/"],
  ["curl 'gopher://127.0.0.1:6379/_x'", "http://127.0.0.1:6379/_x"],
  ["websocat wss://10.0.0.1/", "http://10.0.0.1/"],
  ["echo hi;wget -q [::1]:80/x", "http://[::1]:80/x"],
  ["curl -s 169.254.169.254/latest/", "http://169.254.169.254/latest/"],
  ["/usr/bin/curl -o x localhost", "http://localhost"],
  ["curl 2130706433", "http://2130706433"],
  ["curl me@127.1", "http://127.1"],
  ["curl 'http://x.example\\@127.0.0.1/'", "http://127.0.0.1/"],
  ["curl 'http://127.0.0.1\\@x.example/'", "http://127.0.0.1"],
  ["h=10.0.0.1; curl $h:9200", "http://10.0.0.1:9200"],
  ["http_proxy=127.0.0.1:8080 curl http://x.example/", "http://127.0.0.1:8080"],
  ["curl -x 10.0.0.1:3128 http://x.example/", "http://10.0.0.1:3128"],
  ["curl --socks5 10.0.0.1:1080 http://x.example/", "http://10.0.0.1:1080"],
  ["curl --resolve x.example:80:127.0.0.1 http://x.example/", "http://127.0.0.1"],
  ["curl --connect-to ::[::1]:80 http://x.example/", "http://[::1]:80"],
  [`python3 -c "f('http://x.example/','http://127.0.0.1/')"`, "http://127.0.0.1/"],
  // Not set here, and then curl takes what follows the slashes for the host.
  ["curl http://$HOST/127.0.0.1/", "http://127.0.0.1/"],
  ["cat > a.sh <<E\ncurl http://10.0.0.1/\nE", "http://10.0.0.1/"],
  // Another command is given it, or a file, which may be run.
  ["echo http://10.0.0.1/ | xargs curl", "http://10.0.0.1/"],
  ["curl $(printf http://10.0.0.1/)", "http://10.0.0.1/"],
  ["echo curl http://10.0.0.1/ > a.sh", "http://10.0.0.1/"],
  ["{ echo curl http://10.0.0.1/; } >> a.sh", "http://10.0.0.1/"],
  ["timeout 5 echo curl http://10.0.0.1/ > a.sh", "http://10.0.0.1/"],
  ["exec > a.sh; echo curl http://10.0.0.1/", "http://10.0.0.1/"],
  ["f() { echo http://10.0.0.1/; }; curl $(f)", "http://10.0.0.1/"],
  ["echo() { curl $1; }; echo http://10.0.0.1/", "http://10.0.0.1/"],
  ["printf -v x http://10.0.0.1/; curl $x", "http://10.0.0.1/"],
  ["sed 's#^#http://10.0.0.1/#' a.txt | xargs curl", "http://10.0.0.1/#"],
  ["sed '1e curl http://10.0.0.1/' a.txt", "http://10.0.0.1/"],
  ["git grep -O'curl http://10.0.0.1/' x", "http://10.0.0.1/"],
  ["git log --format=http://10.0.0.1/ | xargs curl", "http://10.0.0.1/"],
  ["git tag -l --format=http://10.0.0.1/ | xargs curl", "http://10.0.0.1/"],
  ["git commit -m http://10.0.0.1/ | xargs curl", "http://10.0.0.1/"],
  ["git clone http://10.0.0.1/", "http://10.0.0.1/"],
  ["rg --replace http://10.0.0.1/ . a.txt | xargs curl", "http://10.0.0.1/"],
  ["rg -r http://10.0.0.1/ . a.txt | xargs curl", "http://10.0.0.1/"],
  ["ag --pager 'curl http://10.0.0.1/' x", "http://10.0.0.1/"],
  ["echo \"$(python3 <<E\nf('http://10.0.0.1/')\nE\n)\"", "http://10.0.0.1/"],
  ["echo http://10.0.0.1/; curl http://10.0.0.1/", "http://10.0.0.1/"],
  ["curl \u0024{x/a/http://10.0.0.1/}", "http://10.0.0.1/"],
  ["curl 'http://10.0.0.1/#x' # y", "http://10.0.0.1/#x"],
  ["echo http://10.0.0.1/ 'unfinished", "http://10.0.0.1/"],
  ["curl telnet://localhost:18765", "http://localhost:18765"],
  ["curl -s LDAP://localhost", "http://localhost"],
  ["curl tftp://me@localhost/x", "http://localhost/x"],
  ["curl 'smb://{x.example,localhost}/a'", "http://localhost/a"],
  ["curl -x telnet://localhost:1 x.example", "http://localhost:1"],
  ["curl -K - <<E\nurl=localhost:18765\nE", "http://localhost:18765"],
  ["curl --config - <<'E'\n# x\n  url : \"localhost/a\"\nE", "http://localhost/a"],
  ["curl -K /dev/stdin x.example <<E\n-x localhost:1\nE", "http://localhost:1"],
  ["curl -K- x.example <<< 'proxy localhost:1'", "http://localhost:1"],
  ["wget -e http_proxy=127.0.0.1:18765 http://example.com/", "http://127.0.0.1:18765"],
  ["wget --execute='https_proxy = 127.0.0.1' http://example.com/", "http://127.0.0.1"],
  ["wget -i - <<< localhost:1/x", "http://localhost:1/x"],
  ["git -c http.proxy=localhost:18765 ls-remote http://example.com/x", "http://localhost:18765"],
  ["git -c http.https://x.example.proxy=socks5://localhost:1 fetch", "http://localhost:1"],
  ["git clone --config remote.origin.proxy=localhost:1 https://x.example/y", "http://localhost:1"],
  ["git config http.proxy localhost:1", "http://localhost:1"],
  ["git clone git://localhost/x", "http://localhost/x"],
  ["git clone --depth 1 -b main ssh://git@127.0.0.1/y", "http://127.0.0.1/y"],
  ["git clone git@localhost:x", "http://localhost"],
  ["git ls-remote localhost:x", "http://localhost"],
  ["git fetch git@[::1]:x main", "http://[::1]"],
  ["git remote add origin git@localhost:x", "http://localhost"],
  ["git submodule add git://localhost/x", "http://localhost/x"],
])("judgeCommand() finds the address in %j", async (command, url) => {
  expect(await urlsOf(command)).toContain(url);
});

test.each([
  "curl http://$HOSTNAME/x",
  "curl file:///ws/a.txt",
  "wget -e robots=off -i list.txt",
  "git clone ../other copy",
  "git clone ./a:b copy",
  "git fetch origin main:main",
  "git push origin HEAD:localhost",
  "git remote -v",
  "git log --format=%H:%s",
  "git clone file:///ws/x y",
  'curl "$URL"',
  "curl http://{$A,$B}/",
  "curl -m 10 --retry 5 --retry-delay 3",
  "echo 127.0.0.1",
  "ssh git@10.0.0.1",
  "psql postgres://localhost/db",
  "echo http: //x",
  "printf 'http://%s/' x",
  "grep -r 'http://' src",
  "constructor localhost",
  'git commit -m "docs: http://localhost:3000"',
  'git add . && git commit -qm "docs: http://localhost:3000"',
  "rg --hidden --only-matching http://localhost | sort",
  "grep --include=*.md -rn http://localhost . | wc -l",
  "git tag -m http://localhost v1",
  "git log --grep=http://localhost",
  'grep -r "http://localhost" .',
  "grep -rn -e http://localhost src | head",
  "timeout 5 rg http://localhost",
  "sed -i 's#http://localhost:3000#x#' links.txt",
  "sed -e 's#http://localhost:3000#x#' a.txt",
  "echo see http://localhost:3000 in docs",
  'echo "é $(date): http://localhost" >&2',
  "echo http://localhost > /dev/null",
  "ls # http://localhost",
  "# é http://localhost\nls",
  '[ "$x" = http://localhost ]',
])("judgeCommand() finds no address in %j", async (command) => {
  expect(await urlsOf(command)).toEqual([]);
});

test("judgeCommand() takes what was meant for a server from its address", async () => {
  expect(await urlsOf("git clone https://user:$TOKEN@git.example/a/b.git")).toEqual([
    "http://git.example/a/b.git",
  ]);
  expect(await urlsOf("curl -m 10 -o out.txt x.example")).toEqual(["http://x.example"]);
});

test("judgeCommand() gives each address once", async () => {
  expect(await urlsOf("curl http://a.example/ http://a.example/; wget http://b.example/")).toEqual([
    "http://a.example/",
    "http://b.example/",
  ]);
});

test("judgeCommand() gives only addresses that can be read", async () => {
  const piece = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("http://", "curl ", "[::", "@", "$", "1.", "{", "}", ",", " ", "--resolve ", ":", "'"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece), async (parts) => {
      for (const url of await urlsOf(parts.join(""))) expect(URL.canParse(url)).toBe(true);
    }),
  );
});
