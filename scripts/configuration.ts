import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../src/config.ts'
import { writeOrCheck } from './compare.ts'

/** Writes docs/reference/configuration.md from the table of settings. `--check` only compares. */

interface Row {
  fallback: unknown
  expected: string
  meaning: string
  secret?: true
}

const shown = (fallback: unknown): string => {
  if (fallback === undefined || (Array.isArray(fallback) && fallback.length === 0)) return ''
  return Array.isArray(fallback) ? `\`${ladder(fallback)}\`` : `\`${fallback}\``
}

const ladder = (seconds: readonly number[]) =>
  seconds.map((each) => (each >= 3_600 ? `${each / 3_600}h` : `${each / 60}m`)).join(',')

const lines = Object.entries<Row>(SETTINGS).map(
  ([name, { fallback, expected, meaning, secret }]) =>
    `| \`${name}\` | ${shown(fallback)} | ${expected}${secret ? ' (secret)' : ''} | ${meaning} |`,
)

const text = `# Configuration

Every setting is an environment variable. \`src/config.ts\` reads and checks all of them when a process
starts. If some are wrong, the process names all of them at once and ends; it never shows a value. This page
is generated from that file by \`npm run configuration\`.

| Setting | Default | Must be | Meaning |
|---|---|---|---|
${lines.join('\n')}

## Secrets

The first start generates \`OPERATOR_TOKEN\`, \`STOREFRONT_TOKEN\` and \`SECRET_KEY\` and stores them in
\`DATA_DIR/secrets.json\` with mode 0600. With \`NODE_ENV=production\` they must be set in the environment
instead, so that every process of an installation has the same ones. The passwords of the database roles, the
keys that sign tokens and the keys that encrypt data in the database are all derived from \`SECRET_KEY\`:
without it the encrypted data cannot be read. The three secrets must differ from each other.

## What production refuses

A process does not start if a secret is missing, \`PAYMENT_GATEWAY\` is not set (\`simulated\` approves every
card), a setting of a gateway would send cards without TLS, or \`WEBHOOK_TEST_TARGETS\` is set. Owners must also verify their e-mail
address, unless \`IDENTITY_EMAIL_VERIFICATION\` is \`off\`.

## A database of your own

\`DATABASE_URL\` can be any PostgreSQL from version 15 on. Its user must own the database and be able to create
roles once (\`CREATEROLE\`); it need not be a superuser. If it cannot create roles, the start prints the SQL
that an administrator has to run. All databases of a server share its roles. So two installations on one server
need the same \`SECRET_KEY\`, or their own logins: \`DATABASE_APP_URL\`, \`DATABASE_WORKER_URL\` and
\`DATABASE_OPERATOR_URL\`, each a member of the role that it replaces.

## Redis

With \`REDIS_URL\` the rate limiters count in Redis. Set its memory policy to \`noeviction\`: an evicted
counter is a limit that no longer applies.
`

await writeOrCheck(
  fileURLToPath(new URL('../docs/reference/configuration.md', import.meta.url)),
  text,
  process.argv.slice(2),
)
