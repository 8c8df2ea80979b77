import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { listLatest } from '../../../src/platform/mail.ts'
import { type Answer, type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { assertRefused, countStatuses, keysOf, times } from '../../harness/refusals.ts'
import { suiteScope } from '../../harness/scope.ts'
import { auditOf, createProduct, createVariant, PRODUCTS, shaOf, uploadImage } from './setup.ts'

const REQUESTS = '/v1/catalog/activation-requests'

let app: TestApp
let acme: Caller

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  acme = await app.merchant('acme')
  await app.operator.put('/v1/stores/acme/owner', { email: 'owner@acme.example' })
})

const codeOf = ({ status, body }: Answer) => [status, body.error?.code]

const draft = async (merchant = acme) =>
  (await createProduct(merchant, randomUUID(), { status: 'draft' })).id
const urlOf = (id: string) => `${PRODUCTS}/${id}/activation-request`
const ask = async (id: string, body?: object) => {
  const made = await acme.post(urlOf(id), body)
  assert.equal(made.status, 201, made.text)
  return made.body.request as { id: string }
}
const decide = (id: string, body: unknown) => app.operator.put(`${REQUESTS}/${id}`, body)
const productOf = async (id: string) => (await acme.get(`${PRODUCTS}/${id}`)).body.product
const mailsAbout = async (note: string) => {
  const mails = await listLatest(app.runtime.operatorDatabase.allStores, 100)
  return mails.filter(({ body }) => body.includes(note))
}

describe('requesting the activation of a draft', () => {
  test('answers 201 with the request, shows it with the product, and answers the same request again while it is open', async () => {
    const id = await draft()
    assert.equal((await productOf(id)).activation_request, null)
    const made = await acme.post(urlOf(id), { note: 'Ready\n✓' })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(keysOf(made.body), ['request', 'warnings'])
    const { id: requestId, created_at, requested_by, ...rest } = made.body.request
    assert.deepEqual(rest, {
      product_id: id,
      status: 'pending',
      note: 'Ready\n✓',
      decided_at: null,
      decision_note: null,
    })
    assert.match(requested_by, /^merchant_key:/)
    const { product_id: _, ...shown } = made.body.request
    assert.deepEqual((await productOf(id)).activation_request, shown)
    const { products } = (await acme.get(`${PRODUCTS}?status=draft&limit=1`)).body
    assert.deepEqual(products[0].activation_request, shown)
    const again = await acme.post(urlOf(id))
    assert.equal(again.status, 200)
    assert.deepEqual(again.body, { ...made.body, already_requested: true })
    const entries = await auditOf(app, 'acme', 'product.activation_requested')
    const own = entries.filter(({ entity }) => entity === `product:${id}`)
    assert.deepEqual(
      own.map(({ after }) => after),
      [{ request_id: requestId }],
    )
    assert.ok(created_at)
  })

  test('creates one request when thirty are sent at once', async () => {
    const id = await draft()
    const answers = await times(30, () => acme.post(urlOf(id)))
    assert.deepEqual(countStatuses(answers), { 200: 29, 201: 1 })
    assert.equal(new Set(answers.map(({ body }) => body.request.id)).size, 1)
  })

  test('is refused for an active and an archived product, and for bad notes', async () => {
    const { id: active } = await createProduct(acme, randomUUID())
    const refused = await acme.post(urlOf(active))
    assert.equal(refused.status, 409)
    assert.deepEqual(codeOf(refused), [409, 'invalid_transition'])
    assert.deepEqual([refused.body.current_status, refused.body.allowed], ['active', []])
    const archived = await draft()
    await acme.post(`${PRODUCTS}/${archived}/archive`)
    assert.deepEqual(codeOf(await acme.post(urlOf(archived))), [409, 'invalid_transition'])
    const id = await draft()
    const bad = [
      ['a book', { note: 'x'.repeat(2_001) }, 'invalid_body', 'note'],
      ['a number', { note: 1 }, 'invalid_body', 'note'],
      ['a card number', { note: '4111 1111 1111 1111' }, 'invalid_body', 'note'],
    ] as const
    await assertRefused(bad, (body) => acme.post(urlOf(id), body))
    const unknown = await acme.post(urlOf(randomUUID()))
    assert.deepEqual(codeOf(unknown), [404, 'product_not_found'])
  })

  test('is suggested when a PATCH tries to set the status', async () => {
    const { status, body } = await acme.patch(`${PRODUCTS}/${await draft()}`, { status: 'active' })
    assert.equal(status, 400)
    assert.match(body.issues[0].message, /activation-request/)
  })
})

describe('deciding a request', () => {
  test('approving a request activates the product, audits both, and mails the owner', async () => {
    const id = await draft()
    const request = await ask(id)
    const note = randomUUID()
    const approved = await decide(request.id, { status: 'approved', decision_note: note })
    assert.equal(approved.status, 200, approved.text)
    const { status, decision_note, decided_at } = approved.body.request
    assert.deepEqual([status, decision_note], ['approved', note])
    assert.ok(decided_at)
    const product = await productOf(id)
    assert.equal(product.status, 'active')
    assert.equal(product.activation_request.status, 'approved')
    for (const action of ['product.activated', 'product.activation_approved']) {
      const [entry] = await auditOf(app, 'acme', action)
      assert.deepEqual([entry?.entity, entry?.actor], [`product:${id}`, 'operator'])
    }
    const [mail, ...others] = await mailsAbout(note)
    assert.deepEqual([mail?.recipient, others], ['owner@acme.example', []])
    assert.match(mail?.subject ?? '', /active/)
    const again = await decide(request.id, { status: 'declined' })
    assert.deepEqual(codeOf(again), [409, 'request_decided'])
  })

  test('declining a request leaves a draft that can be requested again', async () => {
    const id = await draft()
    const note = randomUUID()
    const first = await ask(id)
    const declined = await decide(first.id, { status: 'declined', decision_note: note })
    assert.equal(declined.body.request.status, 'declined')
    const product = await productOf(id)
    assert.deepEqual([product.status, product.activation_request.decision_note], ['draft', note])
    assert.equal((await mailsAbout(note)).length, 1)
    assert.notEqual((await ask(id)).id, first.id)
    assert.deepEqual(codeOf(await decide(first.id, { status: 'approved' })), [
      409,
      'request_decided',
    ])
    assert.equal((await productOf(id)).status, 'draft')
  })

  test('succeeds once when twenty decisions are sent at once', async () => {
    const { id } = await ask(await draft())
    const answers = await times(20, (n) =>
      decide(id, { status: n % 2 === 0 ? 'approved' : 'declined' }),
    )
    assert.deepEqual(countStatuses(answers), { 200: 1, 409: 19 })
  })

  test('works for a store without an owner, and sends no mail', async () => {
    const globex = await app.merchant('globex')
    const id = await draft(globex)
    const { request } = (await globex.post(urlOf(id))).body
    const note = randomUUID()
    const decided = await decide(request.id, { status: 'approved', decision_note: note })
    assert.equal(decided.status, 200, decided.text)
    assert.deepEqual(await mailsAbout(note), [])
  })

  test('is refused for unknown requests and bad decisions', async () => {
    for (const id of [randomUUID(), 'no-id']) {
      assert.deepEqual(codeOf(await decide(id, { status: 'approved' })), [404, 'request_not_found'])
    }
    const { id } = await ask(await draft())
    const bad = [
      ['nothing', {}, 'invalid_body', 'status'],
      ['another status', { status: 'pending' }, 'invalid_body', 'status'],
      ['a book', { status: 'approved', decision_note: 'x'.repeat(2_001) }, 'invalid_body'],
    ] as const
    await assertRefused(bad, (body) => decide(id, body))
  })

  test('is made also when the product is activated directly or archived', async () => {
    const id = await draft()
    await ask(id)
    await app.operator.post(`/v1/stores/acme/products/${id}/activate`)
    assert.equal((await productOf(id)).activation_request.status, 'approved')
    const other = await draft()
    const request = await ask(other)
    await acme.post(`${PRODUCTS}/${other}/archive`)
    assert.equal((await productOf(other)).activation_request.status, 'withdrawn')
    assert.deepEqual(codeOf(await decide(request.id, { status: 'approved' })), [
      409,
      'request_decided',
    ])
    assert.equal((await productOf(other)).status, 'archived')
  })
})

test('the operator lists the requests of all stores, newest first, by status', async () => {
  const globex = await app.merchant('globex')
  const mine = await draft()
  const theirs = await draft(globex)
  const first = await ask(mine, { note: 'the first' })
  const second = (await globex.post(urlOf(theirs))).body.request
  const { requests } = (await app.operator.get(`${REQUESTS}?status=pending&limit=2`)).body
  assert.deepEqual(
    requests.map((each: Record<string, unknown>) => [each.id, each.tenant_ref, each.product_id]),
    [
      [second.id, 'globex', theirs],
      [first.id, 'acme', mine],
    ],
  )
  assert.equal(typeof requests[0].product_name, 'string')
  await decide(first.id, { status: 'declined' })
  const declined = await app.operator.get(`${REQUESTS}?status=declined&limit=1`)
  assert.equal(declined.body.requests[0].status, 'declined')
})

describe('a product that goes live', () => {
  const codesOf = ({ warnings }: { warnings: { code: string; path: string }[] }) =>
    warnings.map(({ code, path }) => [code, path])

  test('is answered with warnings for a missing price and a missing image', async () => {
    const id = await draft()
    const both = [
      ['no_price', '/variants'],
      ['no_image', '/images'],
    ]
    const asked = await acme.post(urlOf(id))
    assert.deepEqual(codesOf(asked.body), both)
    const { id: free } = await createVariant(acme, id, { sku: randomUUID(), price_cents: 0 })
    assert.deepEqual(codesOf((await acme.post(urlOf(id))).body), both)
    await createVariant(acme, id, { sku: randomUUID(), price_cents: 100 })
    assert.deepEqual(codesOf((await acme.post(urlOf(id))).body), both.slice(1))
    assert.ok(free)
    const activated = await app.operator.post(`/v1/stores/acme/products/${id}/activate`)
    assert.deepEqual(codesOf(activated.body), both.slice(1))
  })

  test('does not count the price of an archived variant', async () => {
    const id = await draft()
    const variant = await createVariant(acme, id, { sku: randomUUID(), price_cents: 100 })
    await acme.post(`${PRODUCTS}/${id}/variants/${variant.id}/archive`)
    const activated = await app.operator.post(`/v1/stores/acme/products/${id}/activate`)
    assert.deepEqual(codesOf(activated.body)[0], ['no_price', '/variants'])
  })
})

describe('an active product', () => {
  const NO_PRICE = ['no_price', '/variants']
  const NO_IMAGE = ['no_image', '/images']
  const warned = ({ status, body, text }: Answer, statusWanted = 200) => {
    assert.equal(status, statusWanted, text)
    return body.activation_warnings.map(({ code, path }: Record<string, string>) => [code, path])
  }
  const create = (status?: string) =>
    acme.post(PRODUCTS, { slug: randomUUID(), name: 'Tea', ...(status && { status }) })
  const addVariant = (id: string, price_cents: number) =>
    acme.post(`${PRODUCTS}/${id}/variants`, { sku: randomUUID(), price_cents })

  test('is answered with the warnings of an activation when it is created, and a draft is not', async () => {
    const made = await create()
    assert.deepEqual(warned(made, 201), [NO_PRICE, NO_IMAGE])
    const { id } = made.body.product
    const requested = await acme.post(urlOf(await draft()))
    assert.deepEqual(made.body.activation_warnings, requested.body.warnings)
    assert.deepEqual(made.body.warnings, [])
    assert.deepEqual(warned(await create('draft'), 201), [])
    assert.deepEqual(warned(await acme.patch(`${PRODUCTS}/${id}`, { name: 'T' })), [
      NO_PRICE,
      NO_IMAGE,
    ])
  })

  test('warns when its last price is removed, and no more once it has one', async () => {
    const { id } = await createProduct(acme, randomUUID())
    assert.deepEqual(warned(await addVariant(id, 0), 201), [NO_PRICE, NO_IMAGE])
    const second = await addVariant(id, 100)
    assert.deepEqual(warned(second, 201), [NO_IMAGE])
    const url = `${PRODUCTS}/${id}/variants/${second.body.variant.id}`
    assert.deepEqual(warned(await acme.patch(url, { price_cents: 0 })), [NO_PRICE, NO_IMAGE])
    assert.deepEqual(warned(await acme.patch(url, { price_cents: 5 })), [NO_IMAGE])
    assert.deepEqual(warned(await acme.post(`${url}/archive`)), [NO_PRICE, NO_IMAGE])
  })

  test('warns when its last image is removed, and no more once it has one', async () => {
    const { id } = await createProduct(acme, randomUUID())
    await addVariant(id, 100)
    const asset_ref = await uploadImage(acme, 1)
    const url = `${PRODUCTS}/${id}/images`
    const removed = () => acme.send('DELETE', `${url}/${shaOf(asset_ref)}`)
    assert.deepEqual(warned(await acme.put(`${PRODUCTS}/${id}/image`, { asset_ref })), [])
    assert.deepEqual(warned(await removed()), [NO_IMAGE])
    assert.deepEqual(warned(await acme.post(url, { asset_ref }), 201), [])
    assert.deepEqual(warned(await acme.put(url, { images: [] })), [NO_IMAGE])
    assert.deepEqual(warned(await acme.put(url, { images: [{ asset_ref }] })), [])
    await acme.post(`${PRODUCTS}/${id}/archive`)
    assert.deepEqual(warned(await removed()), [])
  })
})
