import { parseMessage, placeholdersOf } from './message.ts'
import type { Table } from './messages.ts'

/** Writes the TypeScript file with the values of each message of the English file that has placeholders. */
export function writePlaceholders(english: Table, command: string): string {
  const lines = membersOf(english, '  ')
  const values = lines.some((line) => line.includes('Value'))
  return `${values ? "import type { Value } from '@fairdock/messages/message'\n\n" : ''}/** The values of each message with placeholders. Written by \`${command}\` from \`en.json\`. */
export interface Placeholders {
${lines.join('\n')}
}
`
}

function membersOf(table: Table, indent: string): string[] {
  return Object.entries(table).flatMap(([key, entry]) => {
    if (typeof entry !== 'string') {
      const members = membersOf(entry, `${indent}  `)
      return members.length === 0 ? [] : [`${indent}${key}: {`, ...members, `${indent}}`]
    }
    const found = [...placeholdersOf(parseMessage(entry))]
    if (found.length === 0) return []
    const types = found.map(([name, kind]) => `${name}: ${kind === 'number' ? 'number' : 'Value'}`)
    return [`${indent}${key}: { ${types.join('; ')} }`]
  })
}
