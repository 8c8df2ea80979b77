import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import sharp from 'sharp'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { eventually } from '../../harness/eventually.ts'
import { animated, photographed, plain, pngWithSize } from './sample-images.ts'

const URL = '/v1/merchant/media'

async function openUploads(t: TestContext) {
  const app = await openTestApp(t, { env: { ASSET_BASE_URL: 'https://cdn.example/' } })
  const key = await app.key('acme', 'manage:own_media')
  const merchant = app.as({ authorization: `Bearer ${key}` })
  const raw = async (bytes: Buffer, type: string, headers = {}) => {
    const answer = await fetch(app.url + URL, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': type, ...headers },
      body: new Uint8Array(bytes),
    })
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects by looking
    return { status: answer.status, body: (await answer.json()) as any }
  }
  const base64 = (bytes: Buffer, more: object = {}) =>
    merchant.post(URL, {
      content_type: 'image/png',
      data_base64: bytes.toString('base64'),
      ...more,
    })
  return { app, key, merchant, raw, base64 }
}

const listPendingFiles = ({ runtime }: TestApp) =>
  readdir(join(runtime.config.DATA_DIR, 'uploads')).catch(() => [])

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('uploads', async (t) => {
  const { app, key, merchant, raw, base64 } = await openUploads(t)
  const refused = async (sent: Promise<{ status: number; body: unknown }>, wanted: string) => {
    const { status, body } = await sent
    const { code } = (body as { error: { code: string } }).error
    assert.equal(`${status} ${code}`, wanted)
  }

  await t.test('bytes and base64 give the same asset, once', async () => {
    const bytes = await plain('png', 7)
    const sha256 = hashOf(bytes)
    const made = await raw(bytes, 'image/png')
    assert.equal(made.status, 201)
    const { created_at, ...asset } = made.body.asset
    assert.ok(Date.parse(created_at))
    assert.deepEqual(asset, {
      asset_ref: `asset:acme/${sha256}.png`,
      url: `https://cdn.example/stores/acme/assets/${sha256}.png`,
      sha256,
      content_type: 'image/png',
      bytes: bytes.length,
      width: 40,
      height: 20,
      alt: null,
      deduped: false,
    })
    const again = await base64(bytes, { filename: '../../x.exe', alt: 'never said' })
    assert.equal(again.status, 200)
    assert.deepEqual(again.body.asset, { ...made.body.asset, deduped: true })
  })

  await t.test('every type is accepted, and named by its content', async () => {
    for (const [type, extension, bytes] of [
      ['image/jpeg', 'jpg', await plain('jpeg')],
      ['image/JPG; x=y', 'jpg', await plain('jpeg', 2)],
      ['image/webp', 'webp', await animated('webp')],
      ['image/gif', 'gif', await animated('gif')],
      ['image/avif', 'avif', await plain('avif')],
      ['image/svg+xml', 'svg', Buffer.from('<svg viewBox="0 0 8 9"><path d="M0 0h8"/></svg>')],
    ] as const) {
      const { status, body } = await raw(bytes, type)
      assert.equal(status, 201, type)
      assert.match(body.asset.asset_ref, new RegExp(`^asset:acme/[0-9a-f]{64}\\.${extension}$`))
    }
  })

  await t.test('two photos that differ only in their metadata are one asset', async () => {
    const [first, second] = [await photographed('jpeg', 1), await photographed('jpeg', 1)]
    const at = second.indexOf('SECRET-CAMERA')
    second.write('ANOTHER', at)
    const [one, other] = [await raw(first, 'image/jpeg'), await raw(second, 'image/jpeg')]
    assert.deepEqual([one.status, other.status], [201, 200])
    assert.equal(one.body.asset.sha256, other.body.asset.sha256)
  })

  await t.test(
    'bytes that are not an image, or of another type than declared, are refused',
    async () => {
      const png = await plain('png')
      await refused(raw(png, 'image/jpeg'), '422 content_mismatch')
      await refused(base64(png, { content_type: 'image/gif' }), '422 content_mismatch')
      await refused(raw(Buffer.alloc(0), 'image/png'), '422 content_mismatch')
      await refused(raw(png.subarray(0, 60), 'image/png'), '422 image_invalid')
      await refused(raw(pngWithSize(50_000, 50_000), 'image/png'), '422 image_invalid')
      for (const type of ['image/bmp', 'text/html', 'multipart/form-data; boundary=x', 'x']) {
        await refused(raw(png, type), '415 unsupported_media_type')
      }
      await refused(base64(png, { content_type: 'text/html' }), '415 unsupported_media_type')
      await refused(
        raw(png, 'image/png', { 'content-encoding': 'gzip' }),
        '415 unsupported_media_type',
      )
      await refused(merchant.post(URL), '415 unsupported_media_type')
    },
  )

  await t.test('invalid JSON is refused with the path of each issue', async () => {
    const issue = async (body: unknown) => {
      const answer = await merchant.post(URL, body)
      assert.equal(`${answer.status} ${answer.body.error.code}`, '400 invalid_body')
      return answer.body.issues[0]?.path
    }
    assert.equal(
      await issue({ content_type: 'image/png', data_base64: 'no base64!' }),
      'data_base64',
    )
    assert.equal(await issue({ content_type: 'image/png', data_base64: 7 }), 'data_base64')
    assert.equal(await issue({ content_type: 'image/png', data_base64: 'AAA' }), 'data_base64')
    const alt = 'x'.repeat(1_001)
    assert.equal(await issue({ content_type: 'image/png', data_base64: 'AAAA', alt }), 'alt')
    assert.equal(await issue([]), '')
    await refused(raw(Buffer.from('{"a":1,"a":2}'), 'application/json'), '400 invalid_body')
  })

  await t.test('more than 20 MB is refused, with or without a content-length', async () => {
    const large = randomBytes(20 * 1_024 * 1_024 + 1)
    await refused(raw(large, 'image/png'), '413 asset_too_large')
    const socket = connect(Number(new globalThis.URL(app.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => {})
    socket.write(
      `POST ${URL} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        'content-type: image/png\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const mebibyte = Buffer.alloc(1_024 * 1_024)
    for (let i = 0; i < 21; i++)
      socket.write(Buffer.concat([Buffer.from('100000\r\n'), mebibyte, Buffer.from('\r\n')]))
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 413 .*asset_too_large/s)
    socket.destroy()
    await eventually(async () => assert.deepEqual(await listPendingFiles(app), []))
  })

  await t.test('an interrupted upload leaves nothing', async () => {
    const before = (await merchant.get(URL)).body.total
    const socket = connect(Number(new globalThis.URL(app.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `POST ${URL} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        'content-type: image/png\r\ncontent-length: 9000\r\n\r\nhalf',
    )
    await eventually(async () => assert.equal((await listPendingFiles(app)).length, 1))
    socket.destroy()
    await eventually(async () => assert.deepEqual(await listPendingFiles(app), []))
    assert.equal((await merchant.get(URL)).body.total, before)
  })

  await t.test(
    'the uploads of one store are limited, and leave room for other stores',
    async () => {
      const sockets = Array.from({ length: 32 }, () =>
        connect(Number(new globalThis.URL(app.url).port), '127.0.0.1'),
      )
      for (const socket of sockets) {
        socket.write(
          `POST ${URL} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
            'content-type: image/png\r\ncontent-length: 9000\r\n\r\nhalf',
        )
      }
      await eventually(async () => assert.equal((await listPendingFiles(app)).length, 32))
      await refused(raw(await plain('png', 71), 'image/png'), '429 rate_limited')
      const other = await app.merchant('other', 'manage:own_media')
      const sent = {
        content_type: 'image/png',
        data_base64: (await plain('png')).toString('base64'),
      }
      assert.equal((await other.post(URL, sent)).status, 201)
      for (const socket of sockets) socket.destroy()
      await eventually(async () => assert.deepEqual(await listPendingFiles(app), []))
      assert.equal((await raw(await plain('png', 71), 'image/png')).status, 201)
    },
  )

  await t.test('assets are listed by type, by use, and in pages', async () => {
    const all = (await merchant.get(`${URL}?limit=100`)).body
    assert.equal(all.assets.length, all.total)
    const gifs = (await merchant.get(`${URL}?content_type=image/gif`)).body
    assert.deepEqual([gifs.total, gifs.assets[0].content_type], [1, 'image/gif'])
    const page = (await merchant.get(`${URL}?limit=2&offset=1`)).body
    assert.deepEqual(page.assets, all.assets.slice(1, 3))
    const [used] = all.assets
    const site = await app.merchant('acme')
    const manifest = { brand: { logoRef: used.asset_ref }, seo: { x: 'asset:globex/none' } }
    assert.equal((await site.put('/v1/my/site/draft', { manifest })).status, 200)
    const unused = (await merchant.get(`${URL}?unused=true&limit=100`)).body
    assert.equal(unused.total, all.total - 1)
    const gone = await merchant.send('DELETE', `${URL}/${used.sha256}`)
    assert.deepEqual([gone.status, gone.body.error.code], [409, 'asset_in_use'])
    assert.deepEqual(gone.body.refs, [{ kind: 'site', id: '1' }])
  })

  await t.test('an asset is read, described, deleted and restored', async () => {
    const bytes = await plain('png', 77)
    const { sha256 } = (await raw(bytes, 'image/png')).body.asset
    const described = await merchant.patch(`${URL}/${sha256}`, { alt: 'A red square' })
    assert.deepEqual([described.status, described.body.asset.alt], [200, 'A red square'])
    const read = (await merchant.get(`${URL}/${sha256}`)).body
    assert.deepEqual(read.asset, described.body.asset)
    assert.equal((await merchant.patch(`${URL}/${sha256}`, { alt: null })).body.asset.alt, null)
    assert.equal((await merchant.patch(`${URL}/${sha256}`, {})).status, 400)
    assert.equal((await merchant.send('DELETE', `${URL}/${sha256}`)).status, 200)
    for (const method of ['GET', 'DELETE']) {
      await refused(merchant.send(method, `${URL}/${sha256}`), '404 asset_not_found')
    }
    assert.equal((await raw(bytes, 'image/png')).status, 201)
    const audit = await (await app.merchant('acme')).get('/v1/my/audit?limit=5')
    const actions = audit.body.entries.map((entry: { action: string }) => entry.action)
    assert.deepEqual(actions.slice(0, 4), [
      'credential.issued',
      'asset.uploaded',
      'asset.deleted',
      'asset.changed',
    ])
  })

  await t.test('many concurrent uploads of one image are one asset', async () => {
    const bytes = await sharp(randomBytes(3 * 64 * 64), {
      raw: { width: 64, height: 64, channels: 3 },
    })
      .png()
      .toBuffer()
    const answers = await Promise.all(Array.from({ length: 8 }, () => raw(bytes, 'image/png')))
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.equal(answers.filter(({ status }) => status === 200).length, 7)
  })

  assert.deepEqual(await listPendingFiles(app), [])
})

test('the bytes of a store are limited', async (t) => {
  const app = await openTestApp(t, { env: { MEDIA_MB_PER_STORE: '1' } })
  const store = await app.merchant('acme', 'manage:own_media')
  const noise = () =>
    sharp(randomBytes(300 * 300 * 3), { raw: { width: 300, height: 300, channels: 3 } })
      .png()
      .toBuffer()
  const send = (bytes: Buffer, who = store) =>
    who.post(URL, { content_type: 'image/png', data_base64: bytes.toString('base64') })
  const pictures = await Promise.all(Array.from({ length: 8 }, noise))

  await t.test('the bytes of a store are limited, however many uploads come at once', async () => {
    const answers = await Promise.all(pictures.map((each) => send(each)))
    const codes = answers.map(({ status, body }) => body.error?.code ?? status)
    const room = Math.floor((1_024 * 1_024) / (pictures[0]?.length ?? 1))
    assert.equal(codes.filter((code) => code === 201).length, room)
    assert.equal(codes.filter((code) => code === 'media_limit_reached').length, 8 - room)
    assert.ok(answers.every(({ status }) => status === 201 || status === 409))
    const folder = join(app.runtime.config.DATA_DIR, 'assets', 'acme')
    assert.equal((await readdir(folder)).length, room)
    assert.deepEqual(await listPendingFiles(app), [])
  })

  await t.test(
    'assets of the store can be uploaded again beyond the limit, as can those of other stores',
    async () => {
      const { assets, total } = (await store.get(URL)).body
      const held = new Set(assets.map(({ sha256 }: { sha256: string }) => sha256))
      const mine = pictures.filter((each) => held.has(hashOf(each)))
      assert.equal(mine.length, total)
      for (const each of mine) assert.equal((await send(each)).status, 200)
      const other = await app.merchant('other', 'manage:own_media')
      for (const each of mine) assert.equal((await send(each, other)).status, 201)
    },
  )

  await t.test('deleting makes no room at once, since the asset can be restored', async () => {
    const [{ sha256 }] = (await store.get(URL)).body.assets
    assert.equal((await store.send('DELETE', `${URL}/${sha256}`)).status, 200)
    const refused = await send(await noise())
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'media_limit_reached'])
  })

  await t.test('the demo products are added as a whole or not at all', async () => {
    const owner = await app.merchant('acme')
    const { status, body } = await owner.post('/v1/merchant/catalog/demo-seed')
    assert.deepEqual([status, body.error?.code], [409, 'media_limit_reached'])
    assert.equal((await owner.get('/v1/merchant/catalog/products')).body.total, 0)
  })
})
