import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DueLists } from '../../src/db/database.ts'
import { KnownClocks } from '../../src/platform/known-clocks.ts'

const logger = { debug() {} }

/** A database that answers a read with these rows, once it is let. */
function slowDatabase() {
  let answer = (_: object[]) => {}
  const rows = new Promise<object[]>((resolve) => {
    answer = resolve
  })
  return { db: { many: () => rows } as unknown as DueLists, answer }
}

const row = (tenant_ref: string, offset_ms: number, is_moving = false) => ({
  tenant_ref,
  offset_ms,
  is_moving,
})

describe('the clocks that a process knows', () => {
  test('are those of the last read', async () => {
    const clocks = new KnownClocks({ logger })
    const read = async (...rows: object[]) => {
      const { db, answer } = slowDatabase()
      answer(rows)
      await clocks.read(db)
    }
    await read(row('a', 1_000), row('b', 2_000, true))
    assert.deepEqual([...clocks.ahead()], [['a', 1_000]])
    assert.deepEqual([...clocks.moving()], ['b'])
    assert.deepEqual(
      ['a', 'b', 'c'].map((each) => clocks.offsetMs(each)),
      [1_000, 2_000, 0],
    )
    await read(row('b', 3_000))
    assert.deepEqual([...clocks.ahead()], [['b', 3_000]])
    assert.equal(clocks.moving().size, 0)
    assert.equal(clocks.offsetMs('a'), 0, 'it was reset')
  })

  test('keep the changes of this process since the read began', async () => {
    const clocks = new KnownClocks({ logger })
    const { db, answer } = slowDatabase()
    const reading = clocks.read(db)
    clocks.set('a', { offsetMs: 5_000, isMoving: true })
    answer([row('a', 1_000), row('b', 2_000)])
    await reading
    assert.deepEqual([clocks.offsetMs('a'), clocks.offsetMs('b')], [5_000, 2_000])
    assert.deepEqual([...clocks.moving()], ['a'])
    const later = slowDatabase()
    later.answer([row('a', 6_000)])
    await clocks.read(later.db)
    assert.equal(clocks.offsetMs('a'), 6_000, 'a read after the change counts')
  })

  test('stay as they are while the database does not answer', async () => {
    const clocks = new KnownClocks({ logger, pollMs: 5 })
    clocks.set('a', { offsetMs: 1_000, isMoving: false })
    const broken = { many: () => Promise.reject(new Error('away')) } as unknown as DueLists
    await clocks.start(broken)
    clocks.stop()
    assert.equal(clocks.offsetMs('a'), 1_000)
  })
})
