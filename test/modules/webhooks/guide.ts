import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

interface Members {
  /** In every event of the type. */
  always: string[]
  /** In some: they stand after a semicolon. */
  sometimes: string[]
}

/** The members that `docs/webhooks.md` names for each event. */
export function readGuide(): [type: string, members: Members][] {
  const text = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')
  const rows = text.matchAll(/^\| `(\w+\.\w+\.\w+\.v1)` \|.*\| (.*) \|$/gm)
  return [...rows].map(([, type = '', cell = '']) => {
    const [always = [], sometimes = []] = cell
      .split(';')
      .map((part) => [...part.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
    return [type, { always: [...always, 'sequence'].toSorted(), sometimes }]
  })
}

const GUIDE = new Map(readGuide())

/** Fails unless an event has the members that the guide names, and no others. */
export function assertAsInGuide(type: string, data: object): void {
  const { always = [], sometimes = [] } = GUIDE.get(type) ?? {}
  const members = Object.keys(data).filter((name) => !sometimes.includes(name))
  assert.deepEqual(members.toSorted(), always, `${type} in the guide`)
}
