import type { TestContext } from 'node:test'
import pino from 'pino'
import { Type } from 'typebox'
import { ERRORS } from '../../src/compose/errors.ts'
import { type DescribeOptions, describeApi } from '../../src/http/openapi.ts'
import { describePages } from '../../src/http/reference.ts'
import type { App, Plane } from '../../src/http/route.ts'
import { createServer } from '../../src/http/server.ts'
import { Nullable, Params, Timestamp } from '../../src/kernel/schema.ts'

const Gadget = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String({ minLength: 1, maxLength: 80, description: 'Shown as <b>is</b>.' }),
    kind: Type.Enum(['plain', 'fancy']),
    made_at: Nullable(Timestamp),
    parts: Type.Array(Type.Object({ sku: Type.String(), count: Type.Integer({ minimum: 1 }) })),
  },
  { $id: 'Gadget' },
)
const ref = Type.Unsafe({ $ref: 'Gadget#' })

/** A small API with a route on every plane, described as the platform's own is. */
export async function buildDescribedApp(options: DescribeOptions = {}): Promise<App> {
  const app = createServer({ logger: pino({ level: 'silent' }), trustProxy: [] })
  describeApi(app, { errors: ERRORS, ...options })
  describePages(app)
  app.addSchema(Gadget)
  const described = (operationId: string, summary: string) => ({
    operationId,
    summary,
    tags: ['gadgets'],
    response: { 200: ref },
  })
  const on = (plane: Plane) => ({ plane })
  app.get(
    '/v1/gadgets/:id',
    {
      config: { ...on('merchant'), scope: 'read:own_catalog', failures: ['credential_not_found'] },
      schema: { ...described('getGadget', 'One gadget.'), params: Params('id') },
    },
    async () => ({}),
  )
  app.post(
    '/v1/gadgets',
    {
      config: { ...on('merchant'), scope: 'any', orOwner: true, idempotent: true },
      schema: {
        ...described('createGadget', 'Make a gadget.'),
        body: Type.Object({ name: Type.String(), note: Type.Optional(Type.String()) }),
        response: { 201: Type.Object({ gadget: ref }) },
      },
    },
    async (_, reply) => reply.code(201).send({ gadget: {} }),
  )
  app.get(
    '/v1/gadgets',
    {
      config: { ...on('public'), query: { limit: Type.Integer({ maximum: 50, default: 20 }) } },
      schema: {
        ...described('listGadgets', 'All gadgets.'),
        tags: ['catalog'],
        response: { 200: Type.Object({ gadgets: Type.Array(ref) }) },
      },
    },
    async () => ({ gadgets: [] }),
  )
  for (const plane of ['owner', 'operator', 'storefront'] as const) {
    app.delete(
      `/v1/${plane}/gadgets`,
      { config: on(plane), schema: described(`${plane}Drop`, 'Drop all.') },
      async () => ({}),
    )
  }
  app.get('/secret-page', { config: { ...on('public'), hidden: true } }, async () => 'x')
  return app
}

/** Serves the described app. Returns a function that requests a path. */
export async function serveDescribedApp(t: TestContext, options: DescribeOptions = {}) {
  const app = await buildDescribedApp(options)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  t.after(() => app.close())
  const ask = async (path: string) => {
    const answer = await fetch(`${address}${path}`)
    return { status: answer.status, headers: answer.headers, body: await answer.text() }
  }
  return { app, ask }
}
