import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  auditOf,
  createProduct,
  createVariant,
  openLiveStore,
  PRODUCTS,
  publicUrl,
  shaOf,
  uploadImage,
} from './setup.ts'

let app: TestApp
let acme: Caller
let refs: string[]

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope, { env: { ASSET_BASE_URL: 'https://cdn.test/a/' } })
  acme = await openLiveStore(app, 'acme')
  refs = [await uploadImage(acme, 1), await uploadImage(acme, 2), await uploadImage(acme, 3)]
})

const urlOf = (ref: string) => `https://cdn.test/a/stores/acme/assets/${ref.split('/')[1]}`
const listed = (body: { images: { asset_ref: string }[] }) => body.images.map((i) => i.asset_ref)
const toImage = (asset_ref: string) => ({ asset_ref })
const codeOf = (answer: { status: number; body: { error?: { code: string } } }) => [
  answer.status,
  answer.body.error?.code,
]

describe('the main image', () => {
  test('is shown to merchant and public with its URL, and replaced by the next', async () => {
    const { id } = await createProduct(acme, 'framed')
    const [first = '', second = ''] = refs
    for (const ref of [first, second, second]) {
      const { status, body } = await acme.put(`${PRODUCTS}/${id}/image`, { asset_ref: ref })
      assert.equal(status, 200)
      assert.equal(body.product.image_asset_ref, ref)
      assert.equal(body.product.image_url, urlOf(ref))
      assert.deepEqual(body.product.images, [{ asset_ref: ref, alt: null, url: urlOf(ref) }])
      const { product } = (await app.anyone.get(publicUrl('acme', 'products/framed'))).body
      assert.equal(product.image_asset_ref, ref)
      assert.equal(product.image_url, urlOf(ref))
      assert.deepEqual(product.images, body.product.images)
    }
    const inUse = await acme.send('DELETE', `/v1/merchant/media/${shaOf(second)}`)
    assert.deepEqual(codeOf(inUse), [409, 'asset_in_use'])
    const [entry] = await auditOf(app, 'acme', 'product.images_changed')
    assert.equal(entry?.entity, `product:${id}`)
  })

  test('moves to the front when the product has it already, and the other images stay', async () => {
    const { id } = await createProduct(acme, 'fronted')
    for (const asset_ref of refs)
      await acme.post(`${PRODUCTS}/${id}/images`, { asset_ref, alt: 'x' })
    const { body } = await acme.put(`${PRODUCTS}/${id}/image`, { asset_ref: refs[2] })
    assert.deepEqual(listed(body.product), [refs[2], refs[0], refs[1]])
    assert.equal(body.product.images[0].alt, 'x')
  })

  test('must be an asset of the store', async () => {
    const { id } = await createProduct(acme, 'unframed')
    const foreign = await uploadImage(await app.merchant('globex'), 9)
    const stolen = foreign.replace('globex', 'acme')
    for (const asset_ref of [foreign, stolen, 'x', '', refs[0]?.replace('.png', '.jpg')]) {
      const put = await acme.put(`${PRODUCTS}/${id}/image`, { asset_ref })
      assert.deepEqual(codeOf(put), [404, 'asset_not_found'], asset_ref)
      const post = await acme.post(`${PRODUCTS}/${id}/images`, { asset_ref })
      assert.deepEqual(codeOf(post), [404, 'asset_not_found'])
    }
    for (const asset_ref of [undefined, null, 7]) {
      const put = await acme.put(`${PRODUCTS}/${id}/image`, { asset_ref })
      assert.deepEqual(codeOf(put), [400, 'invalid_body'])
    }
    assert.deepEqual((await acme.get(`${PRODUCTS}/${id}/images`)).body, { images: [] })
  })
})

describe('several images', () => {
  test('are listed in the order they were added, can be reordered, and removed one by one', async () => {
    const { id } = await createProduct(acme, 'gallery')
    const url = `${PRODUCTS}/${id}/images`
    for (const asset_ref of refs) {
      assert.equal((await acme.post(url, { asset_ref, alt: 'seen' })).status, 201)
    }
    assert.deepEqual(listed((await acme.get(url)).body), refs)
    const again = await acme.post(url, { asset_ref: refs[1], alt: 'seen anew' })
    assert.deepEqual(listed(again.body), refs)
    assert.equal(again.body.images[1].alt, 'seen anew')
    assert.equal((await acme.post(url, { asset_ref: refs[1] })).body.images[1].alt, 'seen anew')
    const reversed = refs.toReversed()
    const put = await acme.put(url, { images: reversed.map((asset_ref) => ({ asset_ref })) })
    assert.deepEqual(listed(put.body), reversed)
    const words = put.body.images.map(({ alt }: { alt: string | null }) => alt)
    assert.deepEqual(words.toReversed().slice(0, 2), ['seen', 'seen anew'])
    const { product } = (await app.anyone.get(publicUrl('acme', 'products/gallery'))).body
    assert.equal(product.image_asset_ref, reversed[0])
    const cleared = reversed.map((asset_ref) => ({ asset_ref, alt: null }))
    assert.equal((await acme.put(url, { images: cleared })).body.images[0].alt, null)
    const gone = await acme.send('DELETE', `${url}/${shaOf(reversed[0] ?? '')}`)
    assert.deepEqual(listed(gone.body), reversed.slice(1))
    for (const sha of [shaOf(reversed[0] ?? ''), 'x']) {
      const missing = await acme.send('DELETE', `${url}/${sha}`)
      assert.deepEqual(codeOf(missing), [404, 'image_not_found'])
    }
    const twice = { images: [{ asset_ref: refs[0] }, { asset_ref: refs[0] }] }
    assert.deepEqual(codeOf(await acme.put(url, twice)), [400, 'invalid_body'])
    assert.deepEqual(listed((await acme.get(url)).body), reversed.slice(1))
  })

  test('are at most fifty', async () => {
    const { id } = await createProduct(acme, 'album')
    const url = `${PRODUCTS}/${id}/images`
    const images: { asset_ref: string }[] = []
    while (images.length < 50)
      images.push({ asset_ref: await uploadImage(acme, 100 + images.length) })
    assert.equal((await acme.put(url, { images })).body.images.length, 50)
    const more = await acme.post(url, { asset_ref: refs[0] })
    assert.deepEqual(codeOf(more), [409, 'image_limit_reached'])
    const all = [...images, { asset_ref: refs[0] }]
    assert.deepEqual(codeOf(await acme.put(url, { images: all })), [400, 'invalid_body'])
  })

  test('are all stored when they are added at once', async () => {
    const { id } = await createProduct(acme, 'crowded')
    const url = `${PRODUCTS}/${id}/images`
    await Promise.all(refs.map((asset_ref) => acme.post(url, { asset_ref })))
    assert.deepEqual(listed((await acme.get(url)).body).toSorted(), refs.toSorted())
  })
})

describe('the URL of an image', () => {
  test('is null without a base URL, and uses the public URL if no asset base is set', async (t) => {
    for (const [env, base] of [
      [{ ASSET_BASE_URL: '' }, null],
      [{ PUBLIC_URL: 'https://shop.test' }, 'https://shop.test'],
      [{}, 'self'],
    ] as const) {
      const other = await openTestApp(t, { env: { ...env } })
      const shop = await openLiveStore(other, 'acme')
      const { id } = await createProduct(shop, 'x')
      const asset_ref = await uploadImage(shop, 1)
      await shop.put(`${PRODUCTS}/${id}/image`, { asset_ref })
      const { product } = (await other.anyone.get(publicUrl('acme', 'products/x'))).body
      const path = `/stores/acme/assets/${asset_ref.split('/')[1]}`
      const expected = base === null ? null : `${base === 'self' ? other.url : base}${path}`
      assert.equal(product.image_url, expected)
      assert.equal(product.images[0].url, expected)
      assert.equal(product.image_asset_ref, asset_ref)
    }
  })
})

describe('the image of a variant', () => {
  test("is one of its product's images, and is cleared with it", async () => {
    const { id } = await createProduct(acme, 'in-two-colours')
    const [first = '', second = '', third = ''] = refs
    await acme.put(`${PRODUCTS}/${id}/images`, { images: [first, second].map(toImage) })
    const red = { sku: 'TWO-RED', price_cents: 1, image_asset_ref: second }
    const variant = await createVariant(acme, id, red)
    const path = `${PRODUCTS}/${id}/variants/${variant.id}`
    const shown = async () => {
      const { product } = (await app.anyone.get(publicUrl('acme', 'products/in-two-colours'))).body
      return product.variants[0].image_asset_ref
    }
    assert.deepEqual([variant.image_asset_ref, await shown()], [second, second])
    await acme.put(`${PRODUCTS}/${id}/images`, { images: [second, first].map(toImage) })
    assert.equal(await shown(), second, 'another order keeps it')
    await acme.send('DELETE', `${PRODUCTS}/${id}/images/${shaOf(second)}`)
    assert.equal(await shown(), null)
    const again = await acme.patch(path, { image_asset_ref: first })
    assert.equal(again.body.variant.image_asset_ref, first)
    assert.equal((await acme.patch(path, { price_cents: 2 })).body.variant.image_asset_ref, first)
    assert.equal((await acme.patch(path, { image_asset_ref: null })).status, 200)
    assert.equal(await shown(), null)
    for (const image_asset_ref of [third, second, 'none', '', 7]) {
      const answer = await acme.patch(path, { image_asset_ref })
      assert.deepEqual(codeOf(answer), [400, 'invalid_body'])
      assert.equal(answer.body.issues[0].path, 'image_asset_ref')
    }
  })

  test("an image of another store is refused for a variant, though the other store's product has it", async () => {
    const globex = await openLiveStore(app, 'globex')
    const foreign = await uploadImage(globex, 4)
    const other = await createProduct(globex, 'theirs')
    await globex.post(`${PRODUCTS}/${other.id}/images`, { asset_ref: foreign })
    const { id } = await createProduct(acme, 'ours')
    const body = { sku: 'OURS', price_cents: 1, image_asset_ref: foreign }
    const answer = await acme.post(`${PRODUCTS}/${id}/variants`, body)
    assert.deepEqual(codeOf(answer), [400, 'invalid_body'])
    assert.deepEqual((await acme.get(`${PRODUCTS}/${id}`)).body.product.variants, [])
  })
})
