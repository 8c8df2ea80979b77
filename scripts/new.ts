import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writeResource } from './new-resource.ts'

/**
 * `npm run new -- resource <name> [--module <module>] [--area <area>]` writes a plain list for merchants: rows that are
 * created, read, changed and archived. Without a module it gets one of its own, last in its area.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const USAGE = 'npm run new -- resource <name> (--module <module> | --area <area>)'

/** What the command cannot know. */
const NEXT = `Then make it yours: its members (migration, schema, queries), its scope and its address (routes).
Write what its files derive:
  npm run schema && npm run retention && npm run map && npm run openapi
  UPDATE_EXAMPLES=1 npm test -- test/contract/examples && npm run openapi
By hand: CHANGELOG.md, docs/glossary.md, and the page of docs/rulings/ that its area has.`

function main(args: string[]): void {
  const options = { module: { type: 'string' }, area: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [kind, name] = positionals
  const isPlaced = (values.module === undefined) !== (values.area === undefined)
  if (kind !== 'resource' || name === undefined || !isPlaced) throw new Error(`Usage: ${USAGE}`)
  const paths = writeResource(ROOT, { name, ...values })
  const sources = paths.filter((path) => path.endsWith('.ts'))
  execFileSync('node_modules/.bin/biome', ['check', '--write', ...sources], { cwd: ROOT })
  process.stdout.write(`${paths.join('\n')}\n${NEXT}\n`)
}

try {
  main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
