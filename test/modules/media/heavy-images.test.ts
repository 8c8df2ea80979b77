import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import {
  createImageProcesses,
  type PerformImageJob,
} from '../../../src/modules/media/image-processes.ts'
import { processImage } from '../../../src/modules/media/process-image.ts'
import type { ChildBounds } from '../../../src/platform/child-pool.ts'
import { openTestApp } from '../../harness/app.ts'
import { eventually } from '../../harness/eventually.ts'
import { heavyAvif, photographed, plain, withStatedSize } from './sample-images.ts'

const URL = '/v1/merchant/media'

/** Image processes that run a job now. */
const busyProcesses = () =>
  process.getActiveResourcesInfo().filter((each) => each === 'ProcessWrap').length

function openImages(t: TestContext, bounds: Partial<ChildBounds>) {
  const images = createImageProcesses(bounds)
  t.after(() => images.close())
  return images
}

const clean = (bytes: Buffer) => (perform: PerformImageJob) =>
  processImage(bytes, 'image/avif', perform)

const refusal = { code: 'image_invalid', message: /too much time or memory/ }

describe('an image that is too costly', { concurrency: false }, () => {
  test('is refused by its CPU time, and its process ends', async (t) => {
    // A slow machine needs a part of it for the small image below.
    const images = openImages(t, { cpuMs: 1_000 })
    await assert.rejects(images.run('acme', clean(await heavyAvif(2_500))), refusal)
    await eventually(async () => assert.equal(busyProcesses(), 0))
    assert.equal((await images.run('acme', clean(await plain('avif')))).width, 40)
  })

  test('is refused by its memory, also if its header states a small size', async (t) => {
    const images = openImages(t, { memoryMb: 130 })
    const heavy = await heavyAvif(2_500)
    await assert.rejects(images.run('acme', clean(heavy)), refusal)
    const lying = withStatedSize(heavy, 100)
    await assert.rejects(images.run('acme', clean(lying)), { code: 'image_invalid' })
    await eventually(async () => assert.equal(busyProcesses(), 0))
  })

  test('is refused by the wall clock if the machine has no CPU time to spare', async (t) => {
    const images = openImages(t, { wallMs: 100 })
    await assert.rejects(images.run('acme', clean(await heavyAvif(2_000))), refusal)
  })

  test('is refused by its pixels before it is decoded', async () => {
    const none: PerformImageJob = () => assert.fail('decoded')
    const small = await plain('avif')
    await assert.rejects(processImage(withStatedSize(small, 7_000), 'image/avif', none), {
      code: 'image_invalid',
      message: /at most 16384 pixels a side and 25000000/,
    })
    const withMetadata = withStatedSize(await photographed('avif'), 4_000)
    await assert.rejects(processImage(withMetadata, 'image/avif', none), {
      code: 'image_invalid',
      message: /too large to be encoded again: at most 12000000/,
    })
  })

  test('ends when its caller disconnects, whether it runs or waits', async (t) => {
    const images = openImages(t, {})
    const heavy = await heavyAvif(2_000)
    const caller = new AbortController()
    const all = [1, 2].map(() => images.run('acme', clean(heavy), caller.signal))
    await eventually(async () =>
      assert.deepEqual([busyProcesses(), images.waitingOf('acme')], [1, 1]),
    )
    caller.abort(new Error('gone'))
    for (const each of all) await assert.rejects(each, /gone/)
    await eventually(async () =>
      assert.deepEqual([busyProcesses(), images.waitingOf('acme')], [0, 0]),
    )
  })
})

test('the heavy images of one store delay no upload of another', async (t) => {
  const app = await openTestApp(t, { imageBounds: { cpuMs: 1_000 } })
  const [heavy, light] = [await heavyAvif(2_500), await plain('png', 9)]
  const [acme, globex] = [await app.key('acme', 'manage:own_media'), await app.key('globex')]
  const send = (key: string, bytes: Buffer, type: string, signal?: AbortSignal) =>
    fetch(app.url + URL, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': type },
      body: new Uint8Array(bytes),
      ...(signal && { signal }),
    })

  await t.test(
    'uploads of another store are not delayed, however many heavy images there are',
    async () => {
      const flood = Array.from({ length: 4 }, () => send(acme, heavy, 'image/avif'))
      let answered = 0
      for (const each of flood) each.then(() => (answered += 1))
      await eventually(async () => assert.equal(app.runtime.images.waitingOf('acme'), 3))
      assert.equal((await send(globex, light, 'image/png')).status, 201)
      assert.ok(answered < 4, 'it did not wait for all of the heavy images')
      for (const { status } of await Promise.all(flood)) assert.equal(status, 422)
    },
  )

  await t.test('resizing ends when its caller hangs up', async () => {
    const callers = new AbortController()
    const flood = Array.from({ length: 4 }, () => send(acme, heavy, 'image/avif', callers.signal))
    const gone = Promise.allSettled(flood)
    await eventually(async () => assert.equal(app.runtime.images.waitingOf('acme'), 3))
    callers.abort()
    await gone
    await eventually(async () => {
      assert.deepEqual([app.runtime.images.waitingOf('acme'), busyProcesses()], [0, 0])
    })
  })
})
