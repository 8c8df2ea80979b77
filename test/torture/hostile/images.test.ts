import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openTestApp } from '../../harness/app.ts'
import { heavyAvif, plain, withStatedSize } from '../../modules/media/sample-images.ts'

/** The longest time that a light upload may take beside heavy ones. */
const LIGHT_MS = 5_000

test('six heavy images of a store delay no other store, and end', {
  timeout: 600_000,
}, async (t) => {
  const app = await openTestApp(t)
  const [acme, globex] = [await app.key('acme', 'manage:own_media'), await app.key('globex')]
  const send = async (key: string, bytes: Buffer, type: string) => {
    const answer = await fetch(`${app.url}/v1/merchant/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': type },
      body: new Uint8Array(bytes),
    })
    return answer.status
  }
  const large = await heavyAvif(7_000)
  // 49 megapixels are refused by the header, so the header of the others states 9.
  assert.equal(await send(acme, large, 'image/avif'), 422)
  const lying = withStatedSize(large, 3_000)
  const honest = await heavyAvif(3_400)
  const begin = performance.now()
  const flood = [lying, honest, lying, honest, lying, honest].map((bytes) =>
    send(acme, bytes, 'image/avif'),
  )
  let isOver = false
  const done = Promise.all(flood).finally(() => {
    isOver = true
  })
  const waits: number[] = []
  while (!isOver) {
    const sent = performance.now()
    assert.equal(
      (await send(globex, await plain('png', waits.length % 200), 'image/png')) < 300,
      true,
    )
    waits.push(performance.now() - sent)
    await sleep(250)
  }
  const statuses = await done
  t.diagnostic(
    `${statuses} in ${Math.round(performance.now() - begin)} ms; the longest of ${waits.length} light uploads took ${Math.round(Math.max(...waits))} ms`,
  )
  assert.ok(statuses.every((status) => status === 422 || status < 300))
  assert.ok(Math.max(...waits) < LIGHT_MS)
})
