import assert from 'node:assert/strict'
import inspector from 'node:inspector'
import { test } from 'node:test'
import { getHeapStatistics } from 'node:v8'
import { releaseMemory } from '../../src/platform/memory.ts'

const heapBytes = () => getHeapStatistics().total_physical_size

test('memory of the start is returned, and no debugger can connect to the process', async () => {
  const used: string[][] = []
  for (let i = 0; i < 200_000; i += 1) used.push([`what a start leaves behind ${i}`])
  const before = heapBytes()
  used.length = 0
  await releaseMemory()
  assert.ok(heapBytes() < before - 10_000_000)
  assert.equal(inspector.url(), undefined)
})
