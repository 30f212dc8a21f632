/** What stops the machine, changes its disks or its system files. */

import { type Finding, finding } from "./finding.ts";
import { names } from "./names.ts";
import { hasLong, readOptions } from "./options.ts";
import { isPermitted, type Scene } from "./scene.ts";
import { displayed, knownStart, shown, staticText, textWord, type Word } from "./word.ts";

const power = names(
  "shutdown reboot halt poweroff pm-suspend pm-hibernate pm-powersave rtcwake openrc-shutdown kexec stop-computer restart-computer",
);
const powerActions = names(
  "poweroff reboot halt kexec suspend hibernate hybrid-sleep suspend-then-hibernate rescue emergency isolate exit soft-reboot terminate-user terminate-session kill-user",
);
const disks = names(
  "fdisk sfdisk cfdisk gdisk sgdisk cgdisk parted partprobe wipefs blkdiscard mke2fs mkswap mkdosfs mkntfs swapoff swapon hdparm " +
    "badblocks fsck e2fsck resize2fs tune2fs debugfs lvremove vgremove pvremove lvreduce pvcreate vgcreate cryptsetup mdadm dmsetup " +
    "losetup diskpart format umount pivot_root nvme sg_format clear-disk format-volume",
);
const destructive = names("shred wipe srm sdelete scrub cipher");
const systemProcesses = names("init systemd launchd dbus-daemon systemd-logind kthreadd sshd dockerd");

/** System folders. What is below the workspace is not the system, wherever the workspace is. */
const systemFolder =
  /^\/(?:bin|boot|dev|etc|lib\w*|opt|proc|run|sbin|srv|sys|usr|var|System|Library|Applications)(?:\/|$)|^\/root$|^\/home$|^\/Users$|^\/$/;
const windowsFolder = /^[a-z]:[\\/](?:windows|program files|$)/i;

export function judgePower(name: string, args: readonly Word[]): Finding | undefined {
  const texts = args.map((word) => staticText(word) ?? "");
  const operands = texts.filter((text) => !text.startsWith("-"));
  const asksOnly = texts.some((text) => text === "--help" || text === "--version");
  const stops =
    (power.has(name) && !asksOnly) ||
    ((name === "init" || name === "telinit") && /^[0-6sSqQ]$/.test(operands[0] ?? "")) ||
    ((name === "systemctl" || name === "loginctl") &&
      operands.some((text, index) => index === 0 && powerActions.has(text))) ||
    (/^(?:dbus-send|gdbus|busctl|qdbus)$/.test(name) &&
      texts.some((text) => /(?:PowerOff|Reboot|Halt|Suspend|Hibernate)\b/.test(text))) ||
    (name === "osascript" && texts.some((text) => /shut down|restart/i.test(text)));
  return stops
    ? finding("power", `${name} would stop or suspend the machine; tell the user if that is needed`)
    : undefined;
}

export function judgeKill(name: string, args: readonly Word[]): Finding | undefined {
  const texts = args.map((word) => staticText(word) ?? "");
  if (name === "killall5")
    return finding("kill-system", "killall5 ends every process; end single processes by their id");
  if (name === "kill") {
    const listsOnly = texts.some((text) => text === "-l" || text === "-L");
    // The first word with a dash is the signal, later ones are groups; `-1` alone is a signal without a process.
    const signal = /^-(?!-)/.test(texts[0] ?? "") ? (/^-[sn]$/.test(texts[0] ?? "") ? 2 : 1) : 0;
    const everybody = texts.slice(signal).some((text) => text === "-1" || text === "1" || text === "0");
    return everybody && !listsOnly
      ? finding(
          "kill-system",
          "kill is aimed at every process or at the first; end single processes by their id",
        )
      : undefined;
  }
  if (name !== "killall" && name !== "pkill") return undefined;
  const { operands, letters } = readOptions(args, { short: name === "pkill" ? "utgPGUs" : "usoy" });
  const wide = operands.some(
    (word) =>
      systemProcesses.has((staticText(word) ?? "").toLowerCase()) ||
      /^[.^*$]*$/.test(staticText(word) ?? "x"),
  );
  const everyOfUser = operands.length === 0 && letters.has("u");
  return wide || everyOfUser
    ? finding("kill-system", `${name} would end processes of the system; end single processes by their id`)
    : undefined;
}

export function judgeDisk(name: string, args: readonly Word[]): Finding | undefined {
  if (destructive.has(name))
    return finding("destructive-program", `${name} destroys data for good; rm deletes files by name`);
  const mounts =
    name === "mount" &&
    args.some((word) => !/^-[lhVt]|^--(?:help|version|show-labels)/.test(shown(word))) &&
    !(shown(args[0] ?? textWord("")) === "-t" && args.length === 2);
  const erases =
    (name === "diskutil" &&
      args.some((one) => /^(?:erase|partition|reformat|zero|secureErase|apfs|unmount)/i.test(shown(one)))) ||
    ((name === "zpool" || name === "zfs") &&
      args.some((one) => /^(?:destroy|rollback|labelclear|create)$/.test(shown(one))));
  if (disks.has(name) && !listsDisks(name, args))
    return finding("disk", `${name} works on disks and mounts; df and lsblk show them`);
  return /^mkfs(?:\.|$)/.test(name) || mounts || erases
    ? finding("disk", `${name} works on disks and mounts; df and lsblk show them`)
    : undefined;
}

function listsDisks(name: string, args: readonly Word[]): boolean {
  return (
    (name === "fdisk" || name === "sfdisk" || name === "parted" || name === "swapon") &&
    args.some((one) => /^-l$|^--list$|^--show/.test(shown(one)))
  );
}

export function judgeDd(args: readonly Word[]): Finding | undefined {
  const writes = args.some(
    (one) =>
      knownStart(one).startsWith("of=") ||
      (staticText(one) === undefined &&
        !/^(?:if|bs|count|skip|seek|status|conv|iflag)=/.test(knownStart(one))),
  );
  return writes
    ? finding(
        "overwrite",
        "dd of= overwrites its target; use cp, head -c or truncate for files of the workspace",
      )
    : undefined;
}

/** Targets that a command writes. */
export async function judgeWritten(target: Word, scene: Scene, what: string): Promise<Finding | undefined> {
  for (const { text } of scene.read(target)) {
    if (/^\/dev\/(?:tcp|udp)\//.test(text))
      return finding(
        "network-device",
        `${displayed(target)} opens a connection past the network guard; use web_fetch or curl`,
      );
    if (windowsFolder.test(text))
      return finding(
        "system-write",
        `${what} ${displayed(target)} would change the system; write below the workspace`,
      );
    for (const { path } of (await scene.places(text)) ?? []) {
      if (
        isPermitted(path, scene) ||
        /^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd(?:\/|$)|shm\/)/.test(path)
      )
        continue;
      if (path.startsWith("/dev/"))
        return finding(
          "device-write",
          `${what} ${displayed(target)} would overwrite a device; write to a file below the workspace`,
        );
      if (systemFolder.test(path) && !isOwnTemporary(path))
        return finding(
          "system-write",
          `${what} ${displayed(target)} would change the system; write below the workspace`,
        );
    }
  }
  return undefined;
}

/** Folders for everybody's temporary files, which on some systems are below `/var`. */
const isOwnTemporary = (path: string) => /^\/var\/(?:tmp|folders)\//.test(path);

export async function judgePermissions(
  name: string,
  args: readonly Word[],
  scene: Scene,
): Promise<Finding | undefined> {
  const options = readOptions(args);
  if (!options.letters.has("R") && !hasLong(options, "recursive", 2)) return undefined;
  for (const target of options.operands.slice(1)) {
    const readings = scene.read(target);
    for (const { text, whole } of readings) {
      const places = whole ? await scene.places(text) : undefined;
      if (places?.every(({ path }) => isPermitted(path, scene)) === true) continue;
      return finding(
        "permissions",
        `${name} -R of ${displayed(target)} reaches beyond the workspace; name a folder below it`,
      );
    }
  }
  return undefined;
}

const historyFile = /(?:^|\/)\.(?:bash|zsh|sh|python|node_repl|mysql|psql|ash)_history$|fish_history$/;

export function judgeHistory(name: string, args: readonly Word[]): Finding | undefined {
  const texts = args.map(shown);
  const wipes =
    (name === "history" && texts.some((text) => /^-\w*[cdw]/.test(text))) ||
    (name === "unset" && texts.some((text) => /^HIST(?:FILE|SIZE|FILESIZE)$/.test(text))) ||
    (name === "fc" && texts.includes("-p")) ||
    (name === "journalctl" && texts.some((text) => /^--(?:vacuum|rotate)/.test(text))) ||
    (/^(?:rm|unlink|truncate|shred|ln|cp|mv|tee|sed)$/.test(name) &&
      texts.some((text) => historyFile.test(text)));
  return wipes
    ? finding("history", `${name} would wipe a record of what was done; leave it as it is`)
    : undefined;
}

export function wipesHistory(target: Word): boolean {
  return historyFile.test(shown(target));
}

export function judgeCrontab(args: readonly Word[]): Finding | undefined {
  const { letters, operands } = readOptions(args, { short: "u" });
  if (letters.has("r")) return finding("crontab", "crontab -r deletes every job; crontab -l lists them");
  return operands.length > 0
    ? finding(
        "crontab",
        "crontab would replace every job by what is not judged; tell the user what should run, and when",
      )
    : undefined;
}
