import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createIds, newId } from '../../src/kernel/id.ts'

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const timeOf = (id: string) => Number.parseInt(id.slice(0, 13).replace('-', ''), 16)
const randomPart = (id: string) => id.slice(19)

const take = (count: number, next: () => string) => Array.from({ length: count }, () => next())

/** Asserts that each is greater than the one before. */
function assertAscending(ids: readonly string[]): void {
  for (const [i, id] of ids.entries()) {
    if (i > 0) assert.ok((ids[i - 1] ?? '') < id, `${ids[i - 1]} is not before ${id}`)
  }
}

describe('an id', () => {
  test('is a uuid of version 7 that begins with the time of the machine', () => {
    const before = Date.now()
    const id = newId()
    assert.match(id, VERSION_7)
    assert.ok(timeOf(id) >= before && timeOf(id) <= Date.now())
  })

  test('agrees with the example of RFC 9562 in its time, version and variant', () => {
    const id = createIds({ now: () => 0x017f22e279b0 })()
    assert.match(id, /^017f22e2-79b0-7[0-7][0-9a-f]{2}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  test('is greater than every id before it, many to a millisecond', () => {
    const ids = take(20_000, newId)
    assertAscending(ids)
    for (const id of ids) assert.match(id, VERSION_7)
  })

  test('is greater than the ids before it when the clock is set back', () => {
    const times = [5_000, 4_000, 1, 4_999, 5_001, 5_000]
    let at = 0
    const ids = take(times.length, createIds({ now: () => times[at++] ?? 0 }))
    assertAscending(ids)
    assert.deepEqual(ids.map(timeOf), [5_000, 5_000, 5_000, 5_000, 5_001, 5_001])
  })

  test('takes the next millisecond when the present one has no ids left', () => {
    const ids = take(10_000, createIds({ now: () => 5_000 }))
    assertAscending(ids)
    const perMillisecond = ids.filter((id) => timeOf(id) === 5_000).length
    assert.ok(perMillisecond >= 2_049 && perMillisecond <= 4_096, String(perMillisecond))
    assert.ok(timeOf(ids.at(-1) ?? '') <= 5_005)
  })

  test('has 62 random bits of its own, also beside others of its millisecond', () => {
    const ids = take(4_000, createIds({ now: () => 5_000 }))
    assert.equal(new Set(ids.map(randomPart)).size, ids.length)
    // Each bit is set in about half of them: 4,000 throws of a coin, at six standard deviations.
    const bits = ids.map((id) => BigInt(`0x${randomPart(id).replace('-', '')}`))
    for (let bit = 0n; bit < 62n; bit++) {
      const set = bits.filter((value) => (value >> bit) & 1n).length
      assert.ok(Math.abs(set - 2_000) < 190, `bit ${bit} is set in ${set} of 4000`)
    }
  })
})
