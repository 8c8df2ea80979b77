import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import sharp from 'sharp'
import { readRange } from '../../../src/modules/media/serving.ts'
import { openTestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { requestText } from '../../harness/raw-http.ts'
import { S3_KEYS, S3_REGION, startS3 } from '../../harness/s3.ts'
import { animated, plain } from './sample-images.ts'

const UPLOAD = '/v1/merchant/media'

test('a range is a part of the asset, all of it, or beyond its end', () => {
  for (const [header, wanted] of [
    [undefined, 'all'],
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=5-', { start: 5, end: 9 }],
    ['bytes=5-99', { start: 5, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=10-', 'beyond'],
    ['bytes=-0', 'beyond'],
    ['bytes=5-4', 'all'],
    ['bytes=0-1,3-4', 'all'],
    ['bytes=-', 'all'],
    ['lines=1-2', 'all'],
    [`bytes=${'9'.repeat(400)}-`, 'all'],
  ] as const) {
    assert.deepEqual(readRange(header, 10), wanted, header)
  }
})

test('assets are served', async (t) => {
  const app = await openTestApp(t)
  const merchant = await app.merchant('acme')
  const upload = async (bytes: Buffer, content_type: string) => {
    const data_base64 = bytes.toString('base64')
    const { body } = await merchant.post(UPLOAD, { content_type, data_base64 })
    assert.ok(body.asset, JSON.stringify(body))
    return { ...body.asset, path: new URL(body.asset.url).pathname }
  }
  const get = async (path: string, headers = {}, method = 'GET') => {
    const answer = await fetch(app.url + path, { headers, method })
    const bytes = Buffer.from(await answer.arrayBuffer())
    return { status: answer.status, header: (name: string) => answer.headers.get(name), bytes }
  }
  const bytes = await plain('png', 9)
  const { path, sha256 } = await upload(bytes, 'image/png')
  const etag = `"${sha256}"`

  await t.test('to any reader, cacheable for ever, also from a draft store', async () => {
    const { status, header, bytes: body } = await get(path)
    assert.equal(status, 200)
    assert.ok(body.equals(bytes))
    assert.equal(header('content-type'), 'image/png')
    assert.equal(header('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(header('x-content-type-options'), 'nosniff')
    assert.equal(header('content-disposition'), 'inline')
    assert.equal(header('content-length'), String(bytes.length))
    assert.equal(header('etag'), etag)
    const head = await get(path, {}, 'HEAD')
    assert.deepEqual([head.status, head.bytes.length], [200, 0])
    assert.equal(head.header('content-length'), String(bytes.length))
  })

  await t.test('assets are answered with 304 to a reader that has the bytes', async () => {
    for (const tag of [etag, `W/${etag}`, '*', `"x", ${etag}`]) {
      const { status, header, bytes: body } = await get(path, { 'if-none-match': tag })
      assert.deepEqual([status, body.length, header('etag')], [304, 0, etag])
    }
    assert.equal((await get(path, { 'if-none-match': '"x"' })).status, 200)
  })

  await t.test('assets are served in parts by ranges', async () => {
    const part = await get(path, { range: 'bytes=2-5' })
    assert.deepEqual([part.status, part.header('content-length')], [206, '4'])
    assert.equal(part.header('content-range'), `bytes 2-5/${bytes.length}`)
    assert.ok(part.bytes.equals(bytes.subarray(2, 6)))
    const same = await get(path, { range: 'bytes=2-5', 'if-range': etag })
    assert.equal(same.status, 206)
    const other = await get(path, { range: 'bytes=2-5', 'if-range': '"other"' })
    assert.deepEqual([other.status, other.bytes.length], [200, bytes.length])
    const beyond = await get(path, { range: `bytes=${bytes.length}-` })
    assert.equal(beyond.status, 416)
    assert.equal(JSON.parse(String(beyond.bytes)).error.code, 'range_not_satisfiable')
    assert.equal(beyond.header('content-range'), `bytes */${bytes.length}`)
    assert.equal(beyond.header('cache-control'), 'no-store')
  })

  await t.test(
    'only under their own names, and all other names are refused alike, to the byte',
    async () => {
      await app.store('globex')
      const unknown = await get(`/stores/acme/assets/${'0'.repeat(64)}.png`)
      assert.equal(unknown.status, 404)
      for (const other of [
        path.replace('.png', '.jpg'),
        path.replace('acme', 'globex'),
        path.replace('acme', 'nobody'),
        path.replace('acme', 'ACME'),
        '/stores/acme/assets/x',
        `/stores/acme/assets/..%2f${sha256}.png`,
        `${path}.svg`,
      ]) {
        const answer = await get(other)
        assert.deepEqual([answer.status, String(answer.bytes)], [404, String(unknown.bytes)], other)
        assert.equal(answer.header('cache-control'), 'no-store')
      }
    },
  )

  await t.test('resized to fixed widths, once each, and never enlarged', async () => {
    const large = await sharp({
      create: { width: 800, height: 400, channels: 3, background: 'red' },
    })
      .jpeg()
      .toBuffer()
    const asset = await upload(large, 'image/jpeg')
    const [first, ...rest] = await Promise.all(
      [1, 159, 160].map((w) => get(`${asset.path}?w=${w}`)),
    )
    assert.ok(first)
    const { width, height, format } = await sharp(first.bytes).metadata()
    assert.deepEqual([width, height, format], [160, 80, 'jpeg'])
    assert.ok(rest.every((each) => each.bytes.equals(first.bytes)))
    const hash = createHash('sha256').update(first.bytes).digest('hex')
    assert.equal(first.header('etag'), `"${hash}"`)
    assert.match(first.header('cache-control') ?? '', /immutable/)
    const next = await get(`${asset.path}?w=161`)
    assert.equal((await sharp(next.bytes).metadata()).width, 320)
    for (const w of ['800', '960', '5000', '0', '-1', 'x', '', '9'.repeat(50)]) {
      const answer = await get(`${asset.path}?w=${w}`)
      assert.ok(answer.bytes.equals(large), w)
    }
    const folder = join(app.runtime.config.DATA_DIR, 'assets', 'acme')
    const forms = (await readdir(folder)).filter((name) => name.endsWith('.form'))
    assert.equal(forms.length, 2)
    await Promise.all(forms.map((name) => rm(join(folder, name))))
    assert.ok((await get(`${asset.path}?w=160`)).bytes.equals(first.bytes))
    const moving = await animated('gif')
    const gif = await upload(moving, 'image/gif')
    assert.ok((await get(`${gif.path}?w=160`)).bytes.equals(moving))
  })

  await t.test('assets stay as they are if a resized image takes more bytes', async () => {
    const side = 700
    // A black and white pattern takes few bytes until it is resized and becomes grey.
    const pixels = Uint8Array.from({ length: side * side }, (_, at) =>
      ((at % side) % 7) * (Math.floor(at / side) % 5) > 8 ? 255 : 0,
    )
    const bytes = await sharp(pixels, { raw: { width: side, height: side, channels: 1 } })
      .png({ palette: true, colours: 2 })
      .toBuffer()
    const { path, sha256 } = await upload(bytes, 'image/png')
    const folder = join(app.runtime.config.DATA_DIR, 'assets', 'acme')
    const before = (await readdir(folder)).length
    for (const _ of ['made', 'found']) {
      const answer = await get(`${path}?w=640`)
      assert.ok(answer.bytes.equals(bytes))
      assert.equal(answer.header('etag'), `"${sha256}"`)
      assert.match(answer.header('cache-control') ?? '', /immutable/)
    }
    assert.equal((await readdir(folder)).length, before)
  })

  await t.test('an SVG is served with a policy that lets it do nothing in a browser', async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="2000" onload="x()"><script>x()</script></svg>'
    const asset = await upload(Buffer.from(svg), 'image/svg+xml')
    const answer = await get(`${asset.path}?w=160`)
    assert.equal(
      String(answer.bytes),
      '<svg xmlns="http://www.w3.org/2000/svg" width="2000"></svg>',
    )
    assert.equal(answer.header('content-security-policy'), "default-src 'none'; sandbox")
    assert.equal(answer.header('content-type'), 'image/svg+xml')
  })

  await t.test('no longer, once the asset is deleted or the store suspended', async () => {
    const gone = await upload(await plain('png', 10), 'image/png')
    await merchant.send('DELETE', `${UPLOAD}/${gone.sha256}`)
    assert.equal((await get(gone.path)).status, 404)
    await app.operator.put('/v1/stores/acme/status', { status: 'suspended' })
    assert.equal((await get(path)).status, 404)
  })
})

async function openWithBucket(t: TestContext, env: Record<string, string> = {}) {
  const s3 = await startS3(t)
  const { accessKeyId, secretAccessKey } = S3_KEYS
  const app = await openTestApp(t, {
    env: {
      S3_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      AWS_REGION: S3_REGION,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      ...env,
    },
  })
  return { app, s3 }
}

test('assets can be stored in a bucket', async (t) => {
  const { app, s3 } = await openWithBucket(t)
  const bytes = await plain('png', 1, [400, 10])
  const body = { content_type: 'image/png', data_base64: bytes.toString('base64') }
  const { asset } = (await (await app.merchant('acme')).post(UPLOAD, body)).body
  assert.deepEqual(await s3.list(), [`acme/${asset.sha256}.png`])
  const answer = await fetch(`${app.url}/stores/acme/assets/${asset.sha256}.png`, {
    headers: { range: 'bytes=1-3' },
  })
  assert.deepEqual([answer.status, await answer.text()], [206, 'PNG'])
  const small = await fetch(`${app.url}/stores/acme/assets/${asset.sha256}.png?w=200`)
  assert.equal((await sharp(Buffer.from(await small.arrayBuffer())).metadata()).width, 320)
  assert.equal((await s3.list()).length, 2)
})

test('a reader who takes no bytes keeps no asset and no upload from others', async (t) => {
  const { app, s3 } = await openWithBucket(t, { TRUST_PROXY: '127.0.0.1' })
  const merchant = await app.merchant('acme')
  const upload = async (bytes: Buffer) => {
    const body = { content_type: 'image/png', data_base64: bytes.toString('base64') }
    const { asset } = (await merchant.post(UPLOAD, body)).body
    return new URL(asset.url).pathname
  }
  // More than the buffers of a connection hold.
  const side = 1_700
  const noise = randomBytes(side * side * 3)
  const big = await upload(
    await sharp(noise, { raw: { width: side, height: side, channels: 3 } })
      .png({ compressionLevel: 0 })
      .toBuffer(),
  )
  const small = await upload(await plain('png', 2))
  const { hostname, port } = new URL(app.url)
  const begun = () => s3.requests.filter((each) => each.startsWith('GET')).length
  const slow: Socket[] = []
  // In waves, since more of one reader at once are refused before they wait for a slot.
  for (const wave of [15, 30, 45, 60]) {
    while (slow.length < wave) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(requestText(`GET ${big}`, { 'x-forwarded-for': '10.0.0.1' }))
      t.after(() => socket.destroy())
      slow.push(socket.pause())
    }
    await until('it has what it may have', async () => begun() >= Math.min(wave, 32))
  }
  const read = (address: string) =>
    fetch(app.url + small, { headers: { 'x-forwarded-for': address } })
  const other = await read('10.0.0.2')
  assert.deepEqual([other.status, (await other.arrayBuffer()).byteLength > 0], [200, true])
  await upload(await plain('png', 3))
  assert.equal(begun(), 33, 'the slow reader has 32 of its 60')
  const own = read('10.0.0.1')
  for (const socket of slow) socket.destroy()
  assert.equal((await own).status, 200)
})
