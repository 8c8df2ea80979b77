import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { type FastifySchema, fastify, type RouteOptions } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type ErrorCode, type ErrorTable, SHARED_ERRORS, type SharedCode } from '../error-codes.ts'
import { type ApiDocument, arrange, type SecurityScheme, type Shape } from './api-document.ts'
import { type ApiExamples, addExamples } from './api-examples.ts'
import { withIgnored } from './ignored-members.ts'
import { lazyCompilers } from './lazy-compilers.ts'
import type { App, Plane } from './route.ts'
import { allFailures } from './route.ts'

/** The version of the program, as in package.json. */
export const VERSION = '0.0.1'

/** The version of the API document: that of the contract, whatever release carries it. */
const DOCUMENT_VERSION = '0.0.1'

export interface DescribeOptions {
  /** The description of each tag. */
  tags?: Readonly<Record<string, string>>
  /** Reads the example requests and answers of the operations. Called when the document is made. */
  readExamples?: () => ApiExamples
  /** The texts of the codes that routes name, beside the shared ones. */
  errors?: ErrorTable
  /** The webhooks, by the name of their event. */
  webhooks?: Readonly<Record<string, WebhookDescription>>
}

interface WebhookDescription {
  operationId: string
  summary: string
  envelope: TSchema
}

const SECURITY: Record<string, SecurityScheme> = {
  merchantKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'fdk_...',
    description: 'A merchant key. It belongs to one store; its scopes say what it may do.',
  },
  operatorToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-operator-token',
    description: 'The token of the operator, who runs the installation.',
  },
  ownerCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-fd_session',
    description: "An owner's session in a browser. Writes also need the header `x-fd-csrf`.",
  },
  ownerSession: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'fds_...',
    description: "An owner's session, from sign-up or login. It ends 12 hours after its last use.",
  },
  storefrontToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-storefront-token',
    description: 'The token of the storefront servers. The path names the store.',
  },
}

/** The body of every error. Some codes add members beside `error`. */
const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: 'For programs. A code never changes its meaning.' }),
      message: Type.String({
        description: 'For people. Says what is wrong and what to do; the wording may change.',
      }),
      correlationId: Type.Optional(
        Type.String({
          format: 'uuid',
          description:
            'The id of this request in the log of the installation. Quote it in a report.',
        }),
      ),
    }),
  },
  { $id: 'Error', description: 'The body of every error. Some codes add members beside `error`.' },
)

const Issues = Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
  description:
    'Each place where the body, or the query string, is wrong, as a dotted path, and what is expected there.',
})

const IDEMPOTENCY_KEY = {
  'Idempotency-Key': Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    description:
      'Your name for this operation. Send the same key with every retry: the operation then runs only once, and every call gets the same answer.',
  }),
}

declare module 'fastify' {
  interface FastifyInstance {
    makeDocument(): Promise<ApiDocument>
  }
}

/** Describes every route that is registered after this call in an OpenAPI document, served at `/openapi.json`. */
export function describeApi(app: App, options: DescribeOptions = {}): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') routes.push(route)
  })
  let document: Promise<ApiDocument> | undefined
  app.decorate('makeDocument', () => {
    document ??= makeDocument(Object.values(app.getSchemas()), routes, options)
    return document
  })
  app.addSchema(ErrorBody)

  let bytes: Buffer | undefined
  app.get('/openapi.json', { config: { plane: 'public', hidden: true } }, async (_, reply) => {
    bytes ??= Buffer.from(JSON.stringify(await readDocument(app)))
    return reply.type('application/json; charset=utf-8').send(bytes)
  })
}

/**
 * Makes the document by an app of its own, which has the shapes and the routes and is never called. The plugin is
 * loaded only for it: it brings a parser of YAML, and most processes are never asked for the document.
 */
async function makeDocument(
  shapes: readonly unknown[],
  routes: readonly RouteOptions[],
  options: DescribeOptions,
): Promise<ApiDocument> {
  const { default: swagger } = await import('@fastify/swagger')
  const model = fastify({ schemaController: lazyCompilers(), exposeHeadRoutes: false })
  await model.register(swagger, swaggerOptions(options))
  // Routes are loaded side by side, so that the order in which they share shapes is not always the same.
  const named = shapes as readonly { $id: string }[]
  for (const shape of named.toSorted((a, b) => (a.$id < b.$id ? -1 : 1))) model.addSchema(shape)
  for (const { method, url, schema = {}, config = {} } of routes)
    model.route({ method, url, schema, config, handler: async () => {} })
  await model.ready()
  return model.swagger() as unknown as ApiDocument
}

const swaggerOptions = (options: DescribeOptions) =>
  ({
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Fairdock', version: DOCUMENT_VERSION },
      components: { securitySchemes: SECURITY as Record<string, never> },
    },
    // `const` is valid JSON Schema; the plugin's default is for tools of OpenAPI 3.0.
    convertConstToEnum: false,
    transform: ({ schema, url, route }) => ({ schema: describe(route, schema, options), url }),
    transformObject: (made) =>
      'openapiObject' in made
        ? (addExamples(
            arrange(
              made.openapiObject as unknown as ApiDocument,
              options.tags ?? {},
              describeWebhooks(options.webhooks ?? {}),
            ),
            options.readExamples?.() ?? {},
          ) as never)
        : made.swaggerObject,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `Shape${i}`),
    },
  }) as FastifyDynamicSwaggerOptions

const WEBHOOK_HEADERS: Readonly<Record<string, string>> = {
  'x-webhook-event-id': 'The `id` of the envelope.',
  'x-webhook-event-type': 'The `type` of the envelope.',
  'x-webhook-timestamp': 'The time of this attempt, in Unix seconds.',
  'x-webhook-signature-v1':
    '`t=<timestamp>,v1=<hex>`: the HMAC-SHA256 of `<timestamp>.<raw body>` with the signing secret. For a day after a rotation there are two `v1`; one match is enough.',
  'x-webhook-delivery-attempt': 'The number of this attempt, counted from 1.',
}

/**
 * Describes the webhooks. Shapes are referenced by `$id`; the plugin does not rewrite those
 * references here, so this function does.
 */
function describeWebhooks(
  webhooks: NonNullable<DescribeOptions['webhooks']>,
): ApiDocument['webhooks'] {
  const parameters = Object.entries(WEBHOOK_HEADERS).map(([name, description]) => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } }
  })
  return Object.fromEntries(
    Object.entries(webhooks).map(([name, { operationId, summary, envelope }]) => {
      const text = JSON.stringify(envelope).replace(
        /"\$ref":"(\w+)#"/g,
        '"$ref":"#/components/schemas/$1"',
      )
      const requestBody = { content: { 'application/json': { schema: JSON.parse(text) as Shape } } }
      const responses = {
        '2XX': { description: 'Accepted. After any other status the event is sent again.' },
      }
      const tags = ['merchant-ops']
      return [name, { post: { operationId, tags, summary, parameters, requestBody, responses } }]
    }),
  )
}

/** Reads the document of an app that is ready. */
export const readDocument = (app: App): Promise<ApiDocument> => app.makeDocument()

/** The document as it is committed: indented, so that a change is read line by line. It is served without. */
export const documentText = async (app: App) =>
  `${JSON.stringify(await readDocument(app), null, 2)}\n`

type Route = Pick<RouteOptions, 'config' | 'method' | 'schema'>

function describe(
  route: Route,
  schema: FastifySchema = {},
  { errors = {} }: Pick<DescribeOptions, 'errors'> = {},
): FastifySchema {
  const { hidden, plane = 'public', scope, query, idempotent, headers } = route.config ?? {}
  if (hidden) return { hide: true } as FastifySchema
  const described = {
    ...schema,
    security: securityOf(route),
    'x-plane': plane,
    ...(scope === undefined ? {} : { 'x-scope': scope }),
    ...(query === undefined ? {} : { querystring: { type: 'object', properties: query } }),
    ...describeHeaders(idempotent ?? false, headers ?? {}),
    response: {
      ...describeSuccesses(schema.response, { method: route.method, plane }),
      ...describeFailures(allFailures(route), errors),
    },
  }
  return described
}

function describeHeaders(idempotent: boolean | 'optional', optional: Record<string, TSchema>) {
  const properties = { ...(idempotent ? IDEMPOTENCY_KEY : {}), ...optional }
  if (Object.keys(properties).length === 0) return {}
  const required = idempotent === true ? Object.keys(IDEMPOTENCY_KEY) : []
  return { headers: { type: 'object', properties, required } }
}

/** Lists the credentials that a route accepts. OpenAPI 3.1 lets a requirement name roles; those are our scopes. */
function securityOf({ config = {} }: Route): Record<string, string[]>[] {
  const { plane = 'public', scope, orOwner } = config
  const owner = [{ ownerSession: [] }, { ownerCookie: [] }]
  const needed = scope === undefined || scope === 'any' ? [] : [scope]
  const byPlane: Record<Plane, Record<string, string[]>[]> = {
    public: [],
    storefront: [{ storefrontToken: [] }],
    operator: [{ operatorToken: [] }],
    owner,
    merchant: [{ merchantKey: needed }, ...(orOwner ? owner : [])],
  }
  return byPlane[plane]
}

const SUCCESSES: Record<string, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; processed in the background.',
  204: 'Done; there is no body.',
  304: 'Unchanged; there is no body.',
}

/**
 * Adds the descriptions of successful responses. The plugin would take them from the shape, whose description is
 * about something else, and it ignores a description beside a reference.
 */
function describeSuccesses(
  response: unknown,
  of: { method: unknown; plane: Plane },
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries((response ?? {}) as Record<string, TSchema & Shape>).map(([status, schema]) => {
      const description = schema['x-response-description'] ?? SUCCESSES[status] ?? 'Done.'
      const shape = withIgnored(of, schema)
      if (!('$ref' in shape)) return [status, { ...shape, 'x-response-description': description }]
      return [status, { description, content: { 'application/json': { schema } } }]
    }),
  )
}

/** Describes one response for each status; its `code` is one of those that the route can answer. */
function describeFailures(
  codes: readonly ErrorCode[],
  errors: ErrorTable,
): Record<string, unknown> {
  const textOf = (code: ErrorCode) => {
    const text = errors[code] ?? SHARED_ERRORS[code as SharedCode]
    if (text === undefined) throw new Error(`the code ${code} has no text`)
    return text
  }
  const statuses = Map.groupBy([...codes].sort(), (code) => textOf(code)[0])
  return Object.fromEntries(
    [...statuses].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `- \`${code}\`: ${textOf(code)[1]}`).join('\n'),
        content: { 'application/json': { schema: failureShape(group) } },
      },
    ]),
  )
}

/** The refusals that name all faults of a body, or of a query string. */
const NAMING_ISSUES: readonly ErrorCode[] = ['invalid_body', 'validation_error']

const failureShape = (codes: readonly ErrorCode[]) => ({
  allOf: [
    { $ref: 'Error#' },
    {
      type: 'object',
      properties: {
        error: { type: 'object', properties: { code: { type: 'string', enum: codes } } },
        ...(NAMING_ISSUES.some((code) => codes.includes(code)) ? { issues: Issues } : {}),
      },
    },
  ],
})
