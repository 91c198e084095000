import type { Risk } from "./risk.ts";
import { type ToolUse, findCommand, isPathArgument, listArguments } from "./tool-use.ts";

/** Words in the name of a tool that say it destroys or gives away something. */
const GRAVE_TOOL =
  /(?:^|[^a-z])(?:delete|remove|drop|destroy|purge|wipe|truncate|erase|revoke|terminate|publish|deploy)/i;

/** Files whose content is a secret, or that run by themselves. */
const GRAVE_PATH = new RegExp(
  [
    String.raw`(?:^|/)\.env(?:\.(?!example|sample|template)[\w.-]+)?$`,
    String.raw`(?:^|/)\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|pgpass|git-credentials|vault-token)(?:/|$)`,
    String.raw`(?:^|/)(?:id_(?:rsa|dsa|ecdsa|ed25519)|credentials(?:\.\w+)?|secrets?(?:\.\w+)?|authorized_keys|shadow|sudoers)(?:/|$)`,
    String.raw`\.(?:pem|p12|pfx|keystore|jks|kdbx|key)$`,
    String.raw`(?:^|/)\.(?:bashrc|bash_profile|profile|zshrc|zshenv|git/(?:hooks|config))(?:/|$)`,
    String.raw`^/(?:etc|boot|bin|sbin|usr|lib|dev|proc|sys)(?:/|$)`,
  ].join("|"),
  "i",
);

// A command word: at the start, after white space or a sign of the shell, or at the end of a path.
const WORD = String.raw`(?:^|[\s;&|(){}=!/,])`;
const END = String.raw`(?=$|[\s;&|(){}<>,])`;
const SHELL = String.raw`(?:ba|z|da|k|fi|c|tc)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|pwsh|powershell|iex|osascript`;
const FETCH = "curl|wget|fetch|http|https|aria2c|iwr|invoke-webrequest|nc|ncat|netcat";

/** Signs of a grave command. They match commands without quotes and backslashes, in lower case. */
const GRAVE_COMMANDS: readonly RegExp[] = [
  // Deleting and overwriting.
  command(
    "rm|rmdir|unlink|shred|srm|del|erase|rd|remove-item|trash|truncate|mkfs[\\w.]*|fdisk|parted|wipefs|dropdb|dropuser",
  ),
  command("dd", String.raw`\s[^;&|]*\bof=`),
  /\s-(?:-)?delete(?:$|[\s=;&|-])/,
  />\s*\/(?:dev\/(?:sd|nvme|disk|mem)|etc|boot|usr|bin|sbin)/,
  // History and branches that others have.
  command(
    "git",
    String.raw`\s[^;&|]*\bpush\b[^;&|]*\s(?:--force\S*|-[a-z]*f[a-z]*|--delete|-d|--mirror|--prune|\+\S+|:\S+)${END}`,
  ),
  command(
    "git",
    String.raw`\s[^;&|]*\b(?:reset\s[^;&|]*--(?:hard|merge)|clean\s[^;&|]*-\S*f\S*|filter-branch|filter-repo|update-ref|reflog\s+(?:expire|delete)|gc\s[^;&|]*--prune|stash\s+(?:drop|clear)|worktree\s+remove|tag\s+-d|branch\s[^;&|]*(?:-\S*d|--delete)|checkout\s[^;&|]*(?:-f|--force|--)|restore)${END}`,
  ),
  // Other people's machines, accounts and packages.
  command(
    "sudo|su|doas|pkexec|runas|chroot|nsenter|insmod|shutdown|reboot|halt|poweroff|crontab|systemctl|launchctl|iptables|nft|ufw|visudo|passwd|useradd|usermod|userdel",
  ),
  command(
    "chmod|chown|chgrp|setfacl|icacls",
    String.raw`\s[^;&|]*(?:\s-\w*r|--recursive|777|\+s|[ugo]*\+\w*s|4[0-7]{3}${END})`,
  ),
  command("kill|killall|pkill", String.raw`\s`),
  command(
    "npm|pnpm|yarn|cargo|gem|twine|poetry|docker|podman|helm|nuget|mvn|vsce|lerna",
    String.raw`\s[^;&|]*\b(?:publish|unpublish|deprecate|push|yank|upload|deploy|prune|uninstall|rmi?)\b`,
  ),
  command(
    "kubectl|oc|helm|terraform|tofu|pulumi|cdk|aws|az|gcloud|gsutil|doctl|heroku|fly|flyctl|vercel|netlify|gh|glab|ansible(?:-playbook)?|psql|mysql|mongo(?:sh)?|redis-cli|sqlite3|s3cmd|rclone",
    String.raw`\s[^;&|]*\b(?:delete\S*|destroy\S*|remove|rm|rb|drop\S*|terminate\S*|drain|apply|replace|deploy\S*|merge|purge\S*|uninstall|flushall|flushdb|scale|rollback|sync|secrets?|exec)\b`,
  ),
  // The code that runs is not the code that is shown.
  new RegExp(
    String.raw`\|\s*(?:\S*/)?(?:sudo\s+(?:-\S+\s+)*|env\s+|xargs\s+(?:-\S+\s+)*|exec\s+|nohup\s+)*(?:\S*/)?(?:${SHELL})${END}`,
  ),
  new RegExp(String.raw`(?:<\(|\$\(|${"`"})(?:[^)]*[\s;&|(/${"`"}])?(?:${FETCH})\s`),
  command("eval|source", String.raw`\s`),
  new RegExp(String.raw`${WORD}(?:${FETCH})\s[^;]*(?:&&|;|\|\|)[^;]*${WORD}(?:${SHELL}|chmod\s+\+x)${END}`),
  /\bbase64\s[^;]*(?:-d|--decode)/,
  /\/dev\/(?:tcp|udp)\//,
  // Sending data away, and reading secrets.
  command(
    FETCH,
    String.raw`\s[^;&]*(?:\s-[a-z]*[dtf]\s*\S*@|--data\S*[\s=]@|--upload-file|\s-t\s|--form|--post-file|--body-file)`,
  ),
  command("scp|sftp|ftp|telnet|ssh|ncat|netcat|nc|socat", String.raw`\s`),
  command("printenv|env|export|set", String.raw`\s*(?:$|[|>;&])`),
  command(
    "security|pass|op|vault|gpg|keyctl|secret-tool",
    String.raw`\s[^;&|]*(?:find-|show|read|get|export|lookup|kv|print)`,
  ),
  // Databases.
  /\b(?:drop\s+(?:table|database|schema|view|index|user|role|column)|truncate\s+(?:table\s+)?\w|delete\s+from|alter\s+table\s[^;]*\bdrop\b|grant\s+\w|revoke\s+\w)/,
  // A fork bomb.
  /:\(\)\s*\{/,
];

/** A longer command is not searched: nobody reads it whole, so it counts as grave. */
const LONGEST_COMMAND = 2000;

const SQL_KEYS: readonly string[] = ["sql", "query", "statement"];
const GRAVE_SQL = /\b(?:drop|truncate|delete|alter|grant|revoke|update|insert|vacuum)\b/i;

/** The least risk of a tool use: high if it deletes, gives away, or runs code that is not shown; never low. */
export function measureToolRisk({ tool, input }: ToolUse): Risk {
  if (GRAVE_TOOL.test(tool.replace(/([a-z])([A-Z])/g, "$1_$2"))) return "high";
  const isGrave = listArguments(input).some((each) => {
    const { key, value } = each;
    const command = findCommand(each);
    if (command !== undefined) return isGraveCommand(command);
    if (typeof value !== "string") return false;
    if (SQL_KEYS.includes(key)) return GRAVE_SQL.test(value);
    return isPathArgument(each) && GRAVE_PATH.test(value.replaceAll("\\", "/"));
  });
  return isGrave ? "high" : "medium";
}

function isGraveCommand(text: string) {
  if (text.length > LONGEST_COMMAND) return true;
  // Characters that a shell ignores must not hide a word: quotes, backslashes, joined lines, $IFS.
  const plain = text
    .replace(/\\\r?\n/g, "")
    .replace(/\$\{?IFS\}?(?:\$\d)?/g, " ")
    .replace(/\$?['"\\]/g, "")
    .toLowerCase();
  if (GRAVE_COMMANDS.some((pattern) => pattern.test(plain))) return true;
  return plain.split(/[\s;&|<>(){}=:@]+/).some((word) => GRAVE_PATH.test(word) && !isProgram(word));
}

/** Programs and the empty device are in directories that are otherwise grave. */
function isProgram(word: string) {
  return (
    /^\/(?:usr\/(?:local\/)?)?s?bin\/[\w.+-]+$/.test(word) ||
    /^\/dev\/(?:null|stdout|stderr|stdin|zero|u?random)$/.test(word)
  );
}

function command(names: string, rest = END): RegExp {
  return new RegExp(`${WORD}(?:${names})${rest}`, "m");
}
