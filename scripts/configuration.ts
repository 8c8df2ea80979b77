import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../src/config.ts'
import { writeOrCheck } from './compare.ts'

/** Writes docs/configuration.md from the table of settings. `--check` only compares. */

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

Every setting is read from the environment at the start, in one place (\`src/config.ts\`), and checked
before anything else happens. A start with wrong settings names all of them at once, and never shows a
value. This page is made from that table by \`npm run configuration\`.

| Setting | Default | Must be | Meaning |
|---|---|---|---|
${lines.join('\n')}

## Secrets

\`OPERATOR_TOKEN\`, \`STOREFRONT_TOKEN\` and \`SECRET_KEY\` are made at the first start and kept in
\`DATA_DIR/secrets.json\` with mode 0600. With \`NODE_ENV=production\` they must be given instead, so that
every process of an installation has the same ones. The passwords of our database roles, the keys that
sign tokens and the keys that encrypt at rest all follow from \`SECRET_KEY\`: losing it means losing what
it sealed. No two of the three may be the same.

## What production refuses

Missing secrets; a \`PAYMENT_GATEWAY\` that nobody named (\`simulated\` approves every card); an
\`NMI_URL\` without TLS; any \`WEBHOOK_TEST_TARGETS\`. It also asks owners to prove their e-mail address unless
\`IDENTITY_EMAIL_VERIFICATION=off\` says otherwise.

## A database of your own

\`DATABASE_URL\` may name any PostgreSQL from 15 on. Its user must be able to create roles once
(\`CREATEROLE\`) and own the database; it need not be a superuser. Where it may not, the start prints the
SQL an administrator has to run. The roles are shared by all databases of a server, so two installations
on one server need the same \`SECRET_KEY\`, or logins of their own (\`DATABASE_APP_URL\` and its siblings,
each a member of the role it stands for).

## Redis

With \`REDIS_URL\` the counters of the rate limiters live there. Give it a memory policy that evicts
nothing (\`noeviction\`): an evicted counter is a forgotten limit.
`

await writeOrCheck(
  fileURLToPath(new URL('../docs/configuration.md', import.meta.url)),
  text,
  process.argv.slice(2),
)
