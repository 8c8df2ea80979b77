import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ApiDocument, resolveResponse } from '../../src/http/api-document.ts'
import { documentText, readDocument } from '../../src/http/openapi.ts'
import { buildDescribedApp, serveDescribedApp } from '../harness/described-app.ts'
import { listUndescribed } from '../harness/openapi.ts'

async function readyDocument(): Promise<ApiDocument> {
  const app = await buildDescribedApp({ tags: { gadgets: 'Things.' } })
  await app.ready()
  return readDocument(app)
}

const operation = (document: ApiDocument, method: string, path: string) => {
  const found = document.paths[path]?.[method]
  assert.ok(found, `${method} ${path} is not described`)
  return found
}

describe('the OpenAPI document', () => {
  test('is served to anyone, as the same bytes each time', async (t) => {
    const { app, ask } = await serveDescribedApp(t)
    const [first, second] = [await ask('/openapi.json'), await ask('/openapi.json')]
    assert.equal(first.status, 200)
    assert.equal(first.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(first.body, second.body)
    assert.equal(
      first.body,
      JSON.stringify(JSON.parse(await documentText(app))),
      'without indentation',
    )
    const { openapi, info } = JSON.parse(first.body)
    assert.equal(openapi, '3.1.0')
    assert.equal(info.version, '0.0.1', 'the version of the contract, whatever release it is')
  })

  test('is sorted, whatever the order of the routes', async () => {
    const document = await readyDocument()
    for (const record of [document.paths, document.components.schemas]) {
      assert.deepEqual(Object.keys(record), Object.keys(record).sort())
    }
    assert.deepEqual(Object.keys(document.paths['/v1/gadgets'] ?? {}), ['get', 'post'])
    assert.deepEqual(document.tags, [
      { name: 'catalog' },
      { name: 'gadgets', description: 'Things.' },
    ])
  })

  test('leaves pages for people out', async () => {
    const paths = Object.keys((await readyDocument()).paths)
    assert.equal(paths.length, 5)
    assert.deepEqual(
      paths.filter((path) => !path.startsWith('/v1/')),
      [],
    )
  })

  test('names the credential of each plane, and the scope of each route', async () => {
    const document = await readyDocument()
    const owner = [{ ownerSession: [] }, { ownerCookie: [] }]
    const security = (method: string, path: string) => operation(document, method, path).security
    assert.deepEqual(security('get', '/v1/gadgets'), [])
    assert.deepEqual(security('delete', '/v1/owner/gadgets'), owner)
    assert.deepEqual(security('delete', '/v1/operator/gadgets'), [{ operatorToken: [] }])
    assert.deepEqual(security('delete', '/v1/storefront/gadgets'), [{ storefrontToken: [] }])
    assert.deepEqual(security('post', '/v1/gadgets'), [{ merchantKey: [] }, ...owner])
    assert.deepEqual(security('get', '/v1/gadgets/{id}'), [{ merchantKey: ['read:own_catalog'] }])
    const used = new Set(
      Object.values(document.paths).flatMap((path) =>
        Object.values(path).flatMap((each) => (each.security ?? []).flatMap(Object.keys)),
      ),
    )
    assert.deepEqual([...used].sort(), Object.keys(document.components.securitySchemes))
  })

  test('names every code a route can answer with, by status', async () => {
    const document = await readyDocument()
    const { responses } = operation(document, 'get', '/v1/gadgets/{id}')
    assert.deepEqual(Object.keys(responses), ['200', '401', '403', '404', '429', '503'])
    assert.ok(responses[503])
    assert.deepEqual(resolveResponse(document, responses[503]), {
      description: [
        '- `auth_unavailable`: The credential could not be checked. Try again in a moment.',
        '- `db_error`: rate limiter unavailable. Send the request again after the seconds in `retry-after`.',
        '- `service_unavailable`: Something went wrong on our side. Try again in a moment.',
      ].join('\n'),
      content: {
        'application/json': {
          schema: {
            allOf: [
              { $ref: '#/components/schemas/Error' },
              {
                type: 'object',
                properties: {
                  error: {
                    type: 'object',
                    properties: {
                      code: {
                        type: 'string',
                        enum: ['auth_unavailable', 'db_error', 'service_unavailable'],
                      },
                    },
                  },
                },
              },
            ],
          },
        },
      },
    })
  })

  test('describes the query and the Idempotency-Key, which no schema of the route contains', async () => {
    const document = await readyDocument()
    assert.deepEqual(operation(document, 'get', '/v1/gadgets').parameters, [
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', maximum: 50, default: 20 },
      },
    ])
    const [key, ...others] = operation(document, 'post', '/v1/gadgets').parameters ?? []
    assert.deepEqual(others, [])
    assert.equal(key?.name, 'Idempotency-Key')
    assert.equal(key?.in, 'header')
    assert.equal(key?.required, true)
  })

  test('writes a set of codes once, however many routes fail with it', async () => {
    const document = await readyDocument()
    const names = Object.keys(document.components.responses)
    assert.deepEqual(names, names.toSorted())
    const drops = ['operator', 'storefront'].map(
      (plane) => operation(document, 'delete', `/v1/${plane}/gadgets`).responses[429],
    )
    assert.deepEqual(drops, Array(2).fill({ $ref: '#/components/responses/429.rate_limited' }))
  })

  test('gives a shared shape its own name, and refers to it', async () => {
    const document = await readyDocument()
    assert.deepEqual(Object.keys(document.components.schemas), ['Error', 'Gadget', 'Ignored'])
    const made = operation(document, 'post', '/v1/gadgets').responses[201]
    assert.ok(made)
    assert.deepEqual(
      resolveResponse(document, made).content?.['application/json']?.schema.properties,
      {
        gadget: { $ref: '#/components/schemas/Gadget' },
        ignored: { $ref: '#/components/schemas/Ignored' },
      },
    )
  })

  test('does not change what a route accepts', async (t) => {
    const { ask } = await serveDescribedApp(t)
    assert.equal((await ask('/v1/gadgets?limit=many')).status, 200)
  })
})

describe('the check of a document', () => {
  test('accepts a valid document', async () => {
    assert.deepEqual(listUndescribed(await readyDocument()), [])
  })

  test('names what is missing, duplicated or refers to nothing', async () => {
    const document = structuredClone(await readyDocument())
    const get = operation(document, 'get', '/v1/gadgets/{id}')
    delete get.summary
    delete get.parameters
    get.operationId = 'createGadget'
    get.tags = []
    delete document.components.schemas.Gadget
    assert.deepEqual(listUndescribed(document).sort(), [
      '#/components/schemas/Gadget leads nowhere',
      'GET /v1/gadgets/{id} does not describe its path',
      'GET /v1/gadgets/{id} has no summary that is a sentence',
      'GET /v1/gadgets/{id} has not exactly one tag',
      'GET /v1/gadgets/{id} has the operationId of POST /v1/gadgets',
    ])
  })
})
