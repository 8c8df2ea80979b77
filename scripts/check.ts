import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Runs every check of the tree that needs no test: `npm run check`. `npm run check -- imports openapi`
 * runs some of them, `npm run lint` and `npm run types` one each.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BIN = `${ROOT}node_modules/`
const node = process.execPath

interface Check {
  name: string
  what: string
  command: readonly [file: string, ...args: string[]]
  env?: Record<string, string>
}

const CHECKS: readonly Check[] = [
  {
    name: 'types',
    what: 'types',
    // Several checkers would each compute the types that all files use, and the other checks need a core, too.
    command: [node, `${BIN}typescript7/bin/tsc`, '--noEmit', '--checkers', '1'],
    // It ends soon: to collect garbage less often saves a fifth of its time.
    env: { GOGC: '400' },
  },
  {
    name: 'lint',
    what: 'format and lint (npm run format mends most)',
    command: [`${BIN}.bin/biome`, 'ci', '--colors=off', '.'],
  },
  { name: 'imports', what: 'the import rule', command: [node, 'scripts/imports.ts'] },
  { name: 'house', what: 'the house rules', command: [node, 'scripts/house-rules.ts'] },
  {
    name: 'openapi',
    what: 'generated/openapi.json (npm run openapi writes it)',
    command: [node, 'scripts/openapi.ts', '--check'],
  },
  {
    name: 'schema',
    what: 'generated/schema.sql (npm run schema writes it)',
    command: [node, 'scripts/schema.ts', '--check'],
  },
  {
    name: 'configuration',
    what: 'docs/reference/configuration.md (npm run configuration writes it)',
    command: [node, 'scripts/configuration.ts', '--check'],
  },
  {
    name: 'retention',
    what: 'the lives in docs/operating/running.md (npm run retention writes them)',
    command: [node, 'scripts/retention.ts', '--check'],
  },
  {
    name: 'map',
    what: 'the map of modules in ARCHITECTURE.md (npm run map writes it)',
    command: [node, 'scripts/map.ts', '--check'],
  },
  {
    name: 'webhook-events',
    what: 'the events in docs/guides/webhooks.md (npm run webhook-events writes them)',
    command: [node, 'scripts/webhook-events.ts', '--check'],
  },
  {
    name: 'analytics-docs',
    what: 'docs/reference/analytics.md (npm run analytics-docs writes it)',
    command: [node, 'scripts/analytics-docs.ts', '--check'],
  },
  {
    name: 'sections',
    what: 'docs/reference/sections.md (npm run sections writes it)',
    command: [node, 'scripts/sections.ts', '--check'],
  },
  {
    name: 'texts',
    what: 'placeholders.ts beside each en.json (npm run texts writes them)',
    command: [node, 'scripts/texts.ts', '--check'],
  },
]

/** The commands that write what a check compares. */
export const GENERATORS = CHECKS.flatMap(({ command: [file, script = '', last] }) =>
  last === '--check' ? [[file, script] as const] : [],
)

const USAGE = `usage: npm run check -- [check...]

${CHECKS.map(({ name, what }) => `  ${name.padEnd(15)} ${what}\n`).join('')}`

/** Runs the named checks, or all of them, two at a time. Prints how long each one took. */
export async function runChecks(names: readonly string[] = []): Promise<boolean> {
  const chosen = CHECKS.filter(({ name }) => names.length === 0 || names.includes(name))
  let passed = true
  const waiting = chosen.values()
  const lane = async () => {
    for (const { name, what, command, env } of waiting) {
      const started = performance.now()
      const { code, output } = await run(command, env)
      const seconds = ((performance.now() - started) / 1_000).toFixed(1)
      const label = code === 0 ? name : what
      process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${label} (${seconds} s)\n`)
      if (code !== 0) process.stdout.write(`${output}\n`)
      passed &&= code === 0
    }
  }
  await Promise.all([lane(), lane()])
  return passed
}

export function run(
  [file, ...args]: Check['command'],
  env?: Check['env'],
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: ROOT, env: { ...process.env, ...env } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('error', (error) => resolve({ code: 1, output: error.message }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** Runs the checks that the command line names, or refuses when one of them does not exist. */
async function main(names: readonly string[]): Promise<number> {
  if (names.every((name) => CHECKS.some((check) => check.name === name))) {
    return (await runChecks(names)) ? 0 : 1
  }
  process.stderr.write(USAGE)
  return 2
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2))
