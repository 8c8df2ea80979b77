import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { type ApiDocument, resolveResponse } from '../../src/http/api-document.ts'
import { describeIssue } from '../../src/http/errors.ts'

const SRC = new URL('../../src/', import.meta.url)

/** The document that is served; a check keeps it equal to the routes. */
const published: ApiDocument = JSON.parse(
  readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'),
)

/** Every shape in the bodies of requests, at any depth, with those that they refer to. */
function* bodyShapes(): Generator<Record<string, unknown>> {
  const bodies = Object.values(published.paths).flatMap((path) =>
    Object.values(path).map(({ requestBody }) => requestBody),
  )
  // A set: a shape may refer to itself.
  const waiting = new Set<unknown>(bodies)
  for (const shape of waiting) {
    if (typeof shape !== 'object' || shape === null) continue
    yield shape as Record<string, unknown>
    for (const part of Object.values(shape)) waiting.add(part)
    const { $ref } = shape as Record<string, unknown>
    if (typeof $ref === 'string') {
      waiting.add(published.components.schemas[$ref.split('/').at(-1) ?? ''])
    }
  }
}

/** Modules say what their patterns mean when their routes are loaded. */
async function loadAllRoutes(): Promise<void> {
  for (const path of globSync('modules/*/*routes.ts', { cwd: SRC })) {
    await import(new URL(path, SRC).href)
  }
}

describe('the published document', () => {
  before(loadAllRoutes)

  test('marks an operation as background work only if the caller need not call again', () => {
    const said = Object.values(published.paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ operationId, responses }) =>
        responses[202]
          ? [[operationId, resolveResponse(published, responses[202])?.description]]
          : [],
      )
    const background = said.filter(
      ([, words]) => words === 'Accepted; processed in the background.',
    )
    assert.deepEqual(
      background.map(([id]) => id),
      [
        'forgotPassword',
        'resendVerification',
        'resendMail',
        'testCampaign',
        'replayWebhook',
        'exportCustomer',
        'moveTestClock',
        'requestNewsletter',
        'mailOrderLink',
      ],
    )
    assert.match(String(new Map(said as [string, string][]).get('placeOrder')), /on_hold/)
    assert.match(String(new Map(said as [string, string][]).get('eraseCustomer')), /confirm/)
  })

  test('has a description for every pattern, format and exclusion of a body', () => {
    const held: { keyword: string; params: Record<string, unknown> }[] = []
    for (const { pattern, format, not } of bodyShapes()) {
      if (typeof pattern === 'string') held.push({ keyword: 'pattern', params: { pattern } })
      // Bytes have no pattern.
      if (typeof format === 'string' && format !== 'binary')
        held.push({ keyword: 'format', params: { format } })
      if (not !== undefined) held.push({ keyword: 'not', params: {} })
    }
    assert.ok(held.length > 30)
    const message = 'as the validator says it'
    const undescribed = held.filter((each) => describeIssue({ ...each, message }) === message)
    assert.deepEqual([...new Set(undescribed.map((each) => JSON.stringify(each)))], [])
  })

  test('says of every body which members it may have', () => {
    // Of several alternatives the members that none of them knows would reach the handler.
    const isObject = (shape: object) => '$ref' in shape || 'properties' in shape || 'items' in shape
    const unclear = [...bodyShapes()].filter(({ anyOf, oneOf, allOf }) => {
      const alternatives = [anyOf ?? oneOf ?? []].flat() as object[]
      return allOf !== undefined || alternatives.filter(isObject).length > 1
    })
    assert.deepEqual(unclear, [])
  })

  test('names the operations whose keys can be looked up', () => {
    for (const path of ['/v1/merchant', '/v1/tenants/{tenant}']) {
      const found = published.paths[`${path}/idempotency/{operation}/{key}`]?.get?.parameters?.find(
        ({ name }) => name === 'operation',
      )
      for (const name of ['checkout', 'refund', 'cancel', 'edit', 'release']) {
        assert.ok(found?.description?.includes(`\`${name}\``), `${path}: ${name}`)
      }
      // These are the merchant's alone.
      const isMerchants = path === '/v1/merchant'
      assert.equal(found?.description?.includes('`return_receive`'), isMerchants, path)
      assert.equal(found?.description?.includes('`cancel_remaining`'), isMerchants, path)
      assert.equal(found?.description?.includes('`label`'), isMerchants, path)
      assert.equal(found?.description?.includes('`exchange`'), isMerchants, path)
      assert.ok(found?.description?.includes('`pay`'), path)
    }
  })
})

/** The verbs of operations that have one meaning, as CONTRIBUTING lists them; a summary begins with its verb. */
const VERBS = 'list read set change create add delete remove preview export print show'.split(' ')

/** Verbs for the same acts: an operation has none of them. */
const OTHER_VERBS = 'get put update make store modify edit fetch find view display'.split(' ')

/** The verbs that a method may have, of those with one meaning. Any other verb says more: `refundOrder`. */
const OF_METHOD: Readonly<Record<string, readonly string[]>> = {
  get: ['list', 'read', 'preview', 'export', 'print', 'show'],
  put: ['set'],
  patch: ['change'],
  delete: ['delete', 'remove'],
  post: ['create', 'add', 'preview', 'set', 'export', 'change'],
}

/** What the path of a file ends in says how it is read. */
const OF_FILE: Readonly<Record<string, string>> = { csv: 'export', pdf: 'print', html: 'show' }

/** Acts with a name of their own: an edit of an order pays the difference, a new password needs the old one. */
const NAMED_BY_CUSTOM: readonly string[] = ['editOrder', 'editShopperOrder', 'changePassword']

const OPERATIONS = Object.entries(published.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId = '', summary = '' }]) => ({
    method,
    id: operationId,
    verb: /^[a-z]+/.exec(operationId)?.[0] ?? '',
    first: summary.split(' ', 1)[0]?.toLowerCase() ?? '',
    file: /\.([a-z]+)$/.exec(path)?.[1] ?? '',
  })),
)

describe('the name of an operation', () => {
  const idsOf = (isWrong: (operation: (typeof OPERATIONS)[number]) => boolean) =>
    OPERATIONS.filter(isWrong).map(({ id }) => id)

  test('has one verb for one act, by its method', () => {
    const wrong = idsOf(
      ({ id, method, verb }) =>
        !NAMED_BY_CUSTOM.includes(id) &&
        (OTHER_VERBS.includes(verb) ||
          (VERBS.includes(verb) && !OF_METHOD[method]?.includes(verb))),
    )
    assert.deepEqual(wrong, [])
  })

  test('has the verb of its file, and show for a page alone', () => {
    const wrong = idsOf(
      ({ file, verb }) =>
        (file in OF_FILE && verb !== OF_FILE[file]) || (verb === 'show' && file !== 'html'),
    )
    assert.deepEqual(wrong, [])
  })

  test('has the verb that its summary begins with', () => {
    const wrong = idsOf(
      ({ verb, first }) => [...VERBS, ...OTHER_VERBS].includes(first) && first !== verb,
    )
    assert.deepEqual(wrong, [])
  })
})
