import { fileURLToPath } from 'node:url'
import { LIVES } from '../src/compose/lives.ts'
import { SETTINGS } from '../src/config.ts'
import type { Life } from '../src/platform/retention.ts'
import { writeOrCheckPart } from './compare.ts'

/** Writes the table of lives into docs/operating/running.md. `--check` only compares. */

const describe = (life: Life): string => {
  if ('forGood' in life) return `kept for good | ${life.forGood}`
  if ('owner' in life) {
    return `kept with its row in \`${life.owner}\`${life.note === undefined ? '' : `, ${life.note}`} |`
  }
  const setting =
    life.setting === undefined ? '' : ` (\`${life.setting}\`: ${fallback(life.setting)})`
  return `until ${life.until}${setting} | loop \`${life.loop}\`${life.archived ? '; archived' : ''}`
}

const fallback = (name: keyof typeof SETTINGS) => String(SETTINGS[name].fallback ?? 'unset')

const lines = Object.entries(LIVES)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([table, life]) => `| \`${table}\` | ${describe(life)} |`)

const table = `| Table | Rows are kept | Removed by, or why |
|---|---|---|
${lines.join('\n')}`

const path = fileURLToPath(new URL('../docs/operating/running.md', import.meta.url))
await writeOrCheckPart(path, 'retention', table, process.argv.slice(2))
