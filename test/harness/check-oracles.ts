import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'

/** Rules of the whole database: what breaks one, and a query that finds it. */
export type Oracles = Readonly<Record<string, string>>

/** A connection, or a pool of them. */
export interface Queried {
  query(query: { name: string; text: string }): Promise<{ rows: object[] }>
}

/**
 * Returns the rows that a query finds. The query is prepared under a name of its own: a test sends the same
 * queries again and again, and PostgreSQL takes longer to plan one than to run it on the few rows of a test.
 */
async function find(superuser: Queried, text: string): Promise<object[]> {
  const name = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return (await superuser.query({ name, text })).rows
}

/** Fails with the violating rows of any oracle, if there are any. */
export async function assertNone(superuser: Queried, oracles: Oracles): Promise<void> {
  for (const [rule, query] of Object.entries(oracles)) {
    assert.deepEqual((await find(superuser, query)).slice(0, 3), [], rule)
  }
}

/** Lists what the oracles find, one line for each row. */
export async function listFaults(superuser: Queried, oracles: Oracles): Promise<string[]> {
  const faults: string[] = []
  for (const [rule, query] of Object.entries(oracles)) {
    const rows = await find(superuser, query)
    faults.push(...rows.map((row) => `${rule}: ${JSON.stringify(row)}`))
  }
  return faults
}
