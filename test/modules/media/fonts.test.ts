import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import { makeWoff2, sampleFont } from '../../harness/woff2.ts'
import { plain } from './sample-images.ts'

const MEDIA = '/v1/merchant/media'
const FONT = 'font/woff2'

let app: TestApp

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
})

async function upload(tenant: string, bytes: Buffer, content_type = FONT) {
  const merchant = await app.merchant(tenant)
  return merchant.post(MEDIA, { content_type, data_base64: bytes.toString('base64') })
}

describe('a web font', () => {
  test('is stored unchanged, and served as a font and nothing else', async () => {
    const bytes = sampleFont(1)
    const { status, body, text } = await upload('acme', bytes)
    assert.equal(status, 201, text)
    const { asset_ref, content_type, width, height, sha256 } = body.asset
    assert.deepEqual([content_type, width, height], [FONT, null, null])
    assert.match(asset_ref, /^asset:acme\/[0-9a-f]{64}\.woff2$/)
    const path = `/stores/acme/assets/${sha256}.woff2`
    const answer = await fetch(app.url + path)
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes)
    assert.equal(answer.headers.get('content-type'), FONT)
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    assert.match(answer.headers.get('cache-control') ?? '', /immutable/)
    const resized = await fetch(`${app.url}${path}?w=320`)
    assert.deepEqual(Buffer.from(await resized.arrayBuffer()), bytes)
    for (const extension of ['png', 'svg', 'html', 'woff']) {
      assert.equal((await fetch(app.url + path.replace('woff2', extension))).status, 404, extension)
    }
    const merchant = await app.merchant('acme')
    const listed = (await merchant.get(`${MEDIA}?content_type=${FONT}`)).body
    assert.deepEqual([listed.total, listed.assets[0].sha256], [1, sha256])
  })

  test('is refused if it is no font, is cut off, or unpacks to another size than it declares', async () => {
    const good = sampleFont(2)
    const tables = { head: Buffer.alloc(54) }
    const wrong: [what: string, bytes: Buffer][] = [
      ['a header alone', good.subarray(0, 48)],
      ['less than a header', good.subarray(0, 20)],
      ['cut off', good.subarray(0, -4)],
      ['longer than it says', Buffer.concat([good, Buffer.from('<script>alert(1)</script>')])],
      ['a collection', makeWoff2(tables, (bytes) => bytes.write('ttcf', 4, 'latin1'))],
      ['no tables', makeWoff2({})],
      ['more tables than bytes', makeWoff2(tables, (bytes) => bytes.writeUInt16BE(90, 12))],
      ['noise behind a good header', makeWoff2(tables, (bytes) => randomBytes(8).copy(bytes, 54))],
      ['another size', makeWoff2(tables, (bytes) => bytes.writeUInt8(55, 53))],
    ]
    for (const [what, bytes] of wrong) {
      const { status, body } = await upload('acme', bytes)
      assert.deepEqual([status, body.error.code], [422, 'image_invalid'], what)
      assert.match(body.error.message, /not a web font/, what)
    }
  })

  test('is refused if it is too large, also after unpacking', async () => {
    const packed = makeWoff2({ head: Buffer.alloc(20 * 1_024 * 1_024) })
    assert.ok(packed.length < 2_000)
    assert.equal((await upload('acme', packed)).status, 422)
    const large = makeWoff2({ head: randomBytes(1_100_000) })
    const { status, body } = await upload('acme', large)
    assert.deepEqual([status, body.error.code], [413, 'asset_too_large'])
    const { bounds } = (await (await app.merchant('acme')).get('/v1/my/limits')).body
    const bound = bounds.find(({ limit }: { limit: string }) => limit === 'font_bytes')
    assert.equal(bound.max, 1_048_576)
  })

  test('is never accepted as an image, nor an image as a font, whatever type is declared', async () => {
    const png = await plain('png', 3)
    for (const [bytes, type] of [
      [png, FONT],
      [sampleFont(3), 'image/png'],
      [Buffer.from('<svg/>'), FONT],
    ] as const) {
      const { status, body } = await upload('acme', bytes, type)
      assert.deepEqual([status, body.error.code], [422, 'content_mismatch'], type)
    }
    for (const type of ['font/woff', 'font/ttf', 'application/font-woff2']) {
      assert.equal((await upload('acme', sampleFont(3), type)).status, 415, type)
    }
    const merchant = await app.merchant('acme')
    const { asset_ref } = (await upload('acme', sampleFont(4))).body.asset
    const product = { slug: 'framed', name: 'Framed' }
    const { id } = (await merchant.post('/v1/merchant/catalog/products', product)).body.product
    const images = `/v1/merchant/catalog/products/${id}/images`
    const { status, body } = await merchant.post(images, { asset_ref })
    assert.deepEqual([status, body.error.code], [404, 'asset_not_found'])
  })

  test('a web font that a theme names is in use, and cannot be deleted', async () => {
    const merchant = await app.merchant('typed')
    const { asset_ref, sha256 } = (await upload('typed', sampleFont(5))).body.asset
    const theme = { type: { bodyFont: asset_ref } }
    const saved = await merchant.put('/v1/my/store/manifest', {
      manifest: { brand: { name: 'T' }, theme },
    })
    assert.deepEqual([saved.status, saved.body.warnings], [200, []], saved.text)
    const gone = await merchant.send('DELETE', `${MEDIA}/${sha256}`)
    assert.deepEqual([gone.status, gone.body.error.code], [409, 'asset_in_use'])
  })
})
