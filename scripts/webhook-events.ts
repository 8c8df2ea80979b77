import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { loadEvents } from '../src/compose/events.ts'
import type { EventFace } from '../src/modules/face-parts.ts'
import { membersOf } from '../src/modules/webhooks/describe.ts'
import { writeOrCheck } from './compare.ts'

/** Writes the table of events into docs/guides/webhooks.md. `--check` only compares. */

const BEGIN = '<!-- written by npm run webhook-events -->'
const END = '<!-- end of what npm run webhook-events writes -->'

function describe(event: EventFace): string {
  const { properties, required } = membersOf(event)
  const names = Object.keys(properties).filter((name) => name !== 'sequence')
  const list = (isRequired: boolean) =>
    names
      .filter((name) => required.includes(name) === isRequired)
      .map((name) => `\`${name}\``)
      .join(', ')
  const sometimes = list(false)
  const members = list(true) + (sometimes === '' ? '' : `; ${sometimes}`)
  return `| \`${event.type}\` | ${event.when} | ${members} |`
}

const lines = [...(await loadEvents()).values()]
  .sort((a, b) => (a.type < b.type ? -1 : 1))
  .map(describe)

const table = `${BEGIN}

| Event | When | \`data\`; what not every event has stands after the semicolon |
|---|---|---|
${lines.join('\n')}

${END}`

const path = fileURLToPath(new URL('../docs/guides/webhooks.md', import.meta.url))
const page = await readFile(path, 'utf8')
const begin = page.indexOf(BEGIN)
const end = page.indexOf(END)
if (begin === -1 || end < begin)
  throw new Error(`${path} has lost the marks around its table of events`)
const text = page.slice(0, begin) + table + page.slice(end + END.length)
await writeOrCheck(path, text, process.argv.slice(2))
