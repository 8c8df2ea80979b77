import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DAY_MS } from '../../src/kernel/time.ts'
import type { BlobStore } from '../../src/platform/blobs.ts'
import { openDiskBlobs } from '../../src/platform/blobs-disk.ts'
import { openS3Blobs } from '../../src/platform/blobs-s3.ts'
import { BAD_KEYS } from '../harness/blob-keys.ts'
import { S3_KEYS, S3_REGION, startS3 } from '../harness/s3.ts'

const PNG = { contentType: 'image/png' }

interface Opened {
  store: BlobStore
  /** All stored files, unfinished uploads included. */
  list(): Promise<string[]>
}

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'blobs-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function openDisk(t: TestContext): Promise<Opened> {
  const folder = await emptyFolder(t)
  const list = async () =>
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
  return { store: await openDiskBlobs(folder), list }
}

async function openS3(t: TestContext): Promise<Opened> {
  const { endpoint, bucket, list } = await startS3(t)
  const store = await openS3Blobs({ endpoint, bucket, region: S3_REGION, credentials: S3_KEYS })
  t.after(() => store.close())
  return { store, list }
}

const hashOf = (body: Buffer) => createHash('sha256').update(body).digest('hex')
const keyOf = (body: Buffer) => `acme/${hashOf(body)}.png`

async function readAll(store: BlobStore, key: string, range?: { start: number; end?: number }) {
  const blob = await store.get(key, range === undefined ? {} : { range })
  assert.ok(blob)
  const body = await buffer(blob.stream)
  assert.equal(body.length, blob.bytes)
  return { body, totalBytes: blob.totalBytes }
}

/** Bytes of live buffers, after garbage collection. */
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
function liveBytes(): number {
  collect()
  collect()
  return process.memoryUsage().arrayBuffers
}

const stores = [
  ['disk', openDisk],
  ['S3', openS3],
] as const

for (const [name, open] of stores) {
  describe(`blobs on ${name}`, () => {
    test('are read as they were stored, from a buffer and from a stream', async (t) => {
      const { store, list } = await open(t)
      for (const bytes of [0, 1, 65_536, 300_001]) {
        const body = randomBytes(bytes)
        await store.put(keyOf(body), body, PNG)
        assert.deepEqual(await readAll(store, keyOf(body)), { body, totalBytes: bytes })
        assert.equal((await store.head(keyOf(body)))?.totalBytes, bytes)
      }
      const body = randomBytes(200_000)
      const stream = Readable.from([body.subarray(0, 7), body.subarray(7)], { objectMode: false })
      await store.put(keyOf(body), { stream, bytes: body.length }, PNG)
      assert.deepEqual((await readAll(store, keyOf(body))).body, body)
      assert.equal((await list()).length, 5)
    })

    test('are read while hundreds of other readers do not read theirs', async (t) => {
      const { store } = await open(t)
      const body = randomBytes(3_000_000)
      await store.put(keyOf(body), body, PNG)
      const untaken = Array.from({ length: 200 }, () => store.get(keyOf(body)))
      const small = randomBytes(10)
      await store.put(keyOf(small), small, PNG)
      assert.deepEqual((await readAll(store, keyOf(small))).body, small)
      for (const blob of await Promise.all(untaken)) blob?.stream.destroy()
    })

    test('can be read in ranges, and a range beyond the end is refused', async (t) => {
      const { store } = await open(t)
      const body = randomBytes(1_000)
      const key = keyOf(body)
      await store.put(key, body, PNG)
      const ranges = [
        [{ start: 0, end: 0 }, 0, 1],
        [{ start: 10, end: 19 }, 10, 20],
        [{ start: 990 }, 990, 1_000],
        [{ start: 999, end: 5_000 }, 999, 1_000],
        [{ start: 0 }, 0, 1_000],
      ] as const
      for (const [range, from, to] of ranges) {
        const part = await readAll(store, key, range)
        assert.deepEqual(part, { body: body.subarray(from, to), totalBytes: 1_000 })
      }
      const refused = [{ start: 1_000 }, { start: -1 }, { start: 5, end: 4 }, { start: 0.5 }]
      for (const range of refused) {
        await assert.rejects(store.get(key, { range }), { name: 'BlobRangeError' })
      }
    })

    test(`blobs on ${name} that are missing are null, and deleting one is no error`, async (t) => {
      const { store, list } = await open(t)
      const body = Buffer.from('once')
      const key = keyOf(body)
      assert.equal(await store.get(key), null)
      assert.equal(await store.head(key), null)
      await store.delete(key)
      await store.put(key, body, PNG)
      await store.delete(key)
      assert.equal(await store.get(key), null)
      assert.deepEqual(await list(), [])
    })

    test('can be stored many times at once', async (t) => {
      const { store, list } = await open(t)
      const body = randomBytes(100_000)
      await Promise.all(Array.from({ length: 10 }, () => store.put(keyOf(body), body, PNG)))
      assert.deepEqual((await readAll(store, keyOf(body))).body, body)
      assert.deepEqual(await list(), [keyOf(body)])
    })

    test('leave no file behind when the upload is interrupted', async (t) => {
      const { store, list } = await open(t)
      const body = randomBytes(300_000)
      const failing = (error?: Error) =>
        new Readable({
          read() {
            if (this.readableDidRead) return void setImmediate(() => this.destroy(error))
            this.push(body.subarray(0, 100_000))
          },
        })
      const put = (stream: Readable, bytes = body.length) =>
        store.put(keyOf(body), { stream, bytes }, PNG)
      await assert.rejects(put(failing(new Error('the client went away'))), /went away/)
      await assert.rejects(put(failing()), /interrupted/)
      const destroyed = failing()
      destroyed.destroy()
      await assert.rejects(put(destroyed), /interrupted/)
      assert.equal(await store.get(keyOf(body)), null)
      assert.deepEqual(await list(), [])
    })

    test('are refused when length or hash differ from the declared ones', async (t) => {
      const { store, list } = await open(t)
      const body = randomBytes(100_000)
      const put = (sent: Buffer, bytes: number) =>
        store.put(keyOf(body), { stream: Readable.from([sent], { objectMode: false }), bytes }, PNG)
      await assert.rejects(put(body, 99_999), /length/)
      await assert.rejects(put(body, 100_001), /length/)
      await assert.rejects(put(randomBytes(100_000), 100_000), /hash/)
      await assert.rejects(store.put(keyOf(body), Buffer.from('other'), PNG), /hash/)
      assert.deepEqual(await list(), [])
      await put(body, body.length)
    })

    test('have keys that cannot name a file outside the blob store', async (t) => {
      const { store, list } = await open(t)
      const refused = { name: 'InvalidBlobKeyError' }
      for (const key of BAD_KEYS) {
        const what = JSON.stringify(key.slice(0, 80))
        await assert.rejects(async () => store.put(key, Buffer.from('x'), PNG), refused, what)
        await assert.rejects(async () => store.get(key), refused, what)
        await assert.rejects(async () => store.head(key), refused, what)
        await assert.rejects(async () => store.delete(key), refused, what)
      }
      assert.deepEqual(await list(), [])
    })

    test(`blobs on ${name} of 50 MB are streamed in a few MB of memory`, async (t) => {
      const { store } = await open(t)
      const chunk = randomBytes(65_536)
      const count = 800
      const sum = createHash('sha256')
      for (let i = 0; i < count; i++) sum.update(chunk)
      const key = `acme/${sum.digest('hex')}.png`
      const base = liveBytes()
      let peak = 0
      const sample = (i: number) => {
        if (i % 100 === 0) peak = Math.max(peak, liveBytes() - base)
      }
      function* chunks() {
        for (let i = 0; i < count; i++) {
          sample(i)
          yield Buffer.from(chunk)
        }
      }
      const stream = Readable.from(chunks(), { objectMode: false })
      await store.put(key, { stream, bytes: count * chunk.length }, PNG)
      const blob = await store.get(key)
      assert.ok(blob)
      const again = createHash('sha256')
      let seen = 0
      for await (const part of blob.stream) {
        again.update(part)
        sample(seen++)
      }
      assert.equal(`acme/${again.digest('hex')}.png`, key)
      t.diagnostic(`peak ${(peak / 1e6).toFixed(1)} MB`)
      assert.ok(peak < 10e6, `${peak} bytes were held`)
    })
  })
}

describe('a blob store that fails', () => {
  test('throws on disk', async (t) => {
    const folder = await emptyFolder(t)
    const store = await openDiskBlobs(folder)
    const body = Buffer.from('x')
    // A file where the tenant's folder should be.
    await writeFile(join(folder, 'acme'), '')
    await assert.rejects(store.put(keyOf(body), body, PNG), { code: 'EEXIST' })
    await assert.rejects(store.get(keyOf(body)), { code: 'ENOTDIR' })
    await assert.rejects(store.head(keyOf(body)), { code: 'ENOTDIR' })
    assert.deepEqual(await readdir(join(folder, '.uploads')), [])
  })

  const body = Buffer.from('x')
  const calls = [
    ['put', (store: BlobStore) => store.put(keyOf(body), body, PNG)],
    ['get', (store: BlobStore) => store.get(keyOf(body))],
    ['head', (store: BlobStore) => store.head(keyOf(body))],
    ['delete', (store: BlobStore) => store.delete(keyOf(body))],
  ] as const
  const s3 = (endpoint: string, change: { bucket?: string; secretAccessKey?: string } = {}) => {
    const { bucket = 'media', ...keys } = change
    const credentials = { ...S3_KEYS, ...keys }
    return openS3Blobs({ endpoint, bucket, region: S3_REGION, credentials })
  }

  for (const [name, call] of calls) {
    test(`throws on S3 in ${name}: no bucket, wrong secret, 403, 500, no server`, async (t) => {
      const server = await startS3(t)
      await assert.rejects(call(await s3(server.endpoint, { bucket: 'other' })))
      await assert.rejects(call(await s3(server.endpoint, { secretAccessKey: 'wrong' })))
      const store = await s3(server.endpoint)
      server.failWith(403, 'AccessDenied')
      await assert.rejects(call(store))
      server.failWith(500, 'InternalError')
      await assert.rejects(call(store))
      await assert.rejects(call(await s3('http://127.0.0.1:1')))
    })
  }
})

test('S3 stores the content type, and returns it', async (t) => {
  const { endpoint, bucket, contentTypes, requests } = await startS3(t)
  const store = await openS3Blobs({ endpoint, bucket, region: S3_REGION, credentials: S3_KEYS })
  t.after(() => store.close())
  const body = Buffer.from('<svg/>')
  const key = `acme/${hashOf(body)}.svg`
  await store.put(key, body, { contentType: 'image/svg+xml' })
  assert.equal(contentTypes.get(key), 'image/svg+xml')
  assert.deepEqual(await store.head(key), { totalBytes: 6, contentType: 'image/svg+xml' })
  assert.match(requests[0] ?? '', new RegExp(`^PUT /media/${key}`))
})

test('an upload that a killed process left is deleted at the next start', async (t) => {
  const folder = await emptyFolder(t)
  await openDiskBlobs(folder)
  const uploads = join(folder, '.uploads')
  await writeFile(join(uploads, 'old'), 'half')
  await writeFile(join(uploads, 'new'), 'half')
  const twoDaysAgo = new Date(Date.now() - 2 * DAY_MS)
  await utimes(join(uploads, 'old'), twoDaysAgo, twoDaysAgo)
  await openDiskBlobs(folder)
  assert.deepEqual(await readdir(uploads), ['new'])
})
