import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteOptions,
} from 'fastify'
import type { TSchema } from 'typebox'
import type { ErrorCode } from '../error-codes.ts'
import { PAGE_QUERY } from '../kernel/page.ts'
import type { Scope } from '../kernel/scopes.ts'
import { filtersOf, refusesFilters } from './known-filters.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** Registers routes: a module's `routes.ts` exports one such function for each plane. */
export type Routes = (app: App) => Promise<void>

/**
 * The credential a route needs. It is set by the plane the route is registered under, never by the
 * route itself.
 */
export type Plane = 'public' | 'storefront' | 'merchant' | 'owner' | 'operator'

declare module 'fastify' {
  interface FastifyContextConfig {
    plane?: Plane
    /** Merchant plane: the scope a key needs, or `any` for a route that every key may call. */
    scope?: Scope | 'any'
    /** Merchant plane: the store's owner may also call it, with a session. */
    orOwner?: boolean
    /** The codes this route can answer, beside those of its plane. */
    failures?: readonly ErrorCode[]
    /**
     * The query parameters. On the merchant and operator planes other parameters are refused, and so are values outside
     * of these shapes. On other planes they are for the documentation: a value that cannot be read counts as absent.
     */
    query?: Record<string, TSchema>
    /** Headers a caller may send, for the documentation. */
    headers?: Record<string, TSchema>
    /** A member of the body whose original text is stored in `request.verbatim`. */
    verbatim?: string
    /** Needs an Idempotency-Key header, or takes one. */
    idempotent?: boolean | 'optional'
    /** Its texts are not searched for card numbers; `acceptAnyDigits` sets this. */
    acceptsAnyDigits?: boolean
    /** Its answers have no `cache-control`, refusals included: public reads of sites and catalogs. */
    withoutCacheControl?: boolean
    /** Left out of the OpenAPI document: a page for people. */
    hidden?: boolean
  }
}

/** One row of the route table, from which tests, OpenAPI and the check at the start are made. */
export interface RouteEntry {
  method: string
  url: string
  plane: Plane
  scope?: Scope | 'any'
  orOwner: boolean
  hidden: boolean
  hasBody: boolean
  failures: readonly ErrorCode[]
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The text of the body's member that `config.verbatim` names. */
    verbatim: string
  }
  interface FastifyInstance {
    routeTable: RouteEntry[]
  }
}

/**
 * Collects the route table, and refuses to start with a route that declares too little: no plane, a
 * merchant route without a scope, or no shape for its success.
 */
export function collectRoutes(app: App): void {
  const seen: RouteOptions[] = []
  app.decorate('routeTable', [])
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') seen.push(route)
  })
  app.addHook('onReady', async () => {
    for (const route of seen) app.routeTable.push(readEntry(route))
  })
}

function readEntry(route: RouteOptions): RouteEntry {
  const { plane, scope, orOwner, hidden } = route.config ?? {}
  const where = `${route.method} ${route.url}`
  if (plane === undefined) throw new Error(`${where} declares no authorisation`)
  if (plane === 'merchant' && scope === undefined) throw new Error(`${where} declares no scope`)
  const response = (route.schema?.response ?? {}) as Record<string, unknown>
  if (!hidden && !Object.keys(response).some((status) => status.startsWith('2'))) {
    throw new Error(`${where} declares no response schema`)
  }
  return {
    method: String(route.method),
    url: route.url,
    plane,
    ...(scope === undefined ? {} : { scope }),
    orOwner: orOwner ?? false,
    hidden: hidden ?? false,
    hasBody: route.schema?.body !== undefined,
    failures: allFailures(route),
  }
}

const AUTH: readonly ErrorCode[] = ['unauthorized', 'rate_limited', 'db_error']

const PLANE_FAILURES: Record<Plane, readonly ErrorCode[]> = {
  public: [],
  storefront: AUTH,
  operator: AUTH,
  owner: [...AUTH, 'auth_unavailable', 'csrf_required'],
  merchant: [...AUTH, 'auth_unavailable', 'forbidden'],
}

const BODY: readonly ErrorCode[] = ['invalid_body', 'body_too_large', 'unsupported_media_type']
const OPTIONAL_KEY: readonly ErrorCode[] = [
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_in_progress',
]
const KEY: readonly ErrorCode[] = ['idempotency_key_required', ...OPTIONAL_KEY]

/** Methods without a body. For all other methods a body is read and checked, even where a route does not use it. */
const BODYLESS: readonly unknown[] = ['GET', 'HEAD']

/** A public read of a caller who has too many waiting: see read-pace.ts. */
const PACED: readonly ErrorCode[] = ['rate_limited']

/** Every code a route can answer: its own, its plane's, and those that follow from its options. */
export function allFailures(route: Pick<RouteOptions, 'config' | 'method' | 'schema'>) {
  const { config = {}, method } = route
  const { plane = 'public', failures = [], idempotent, orOwner, query } = config
  return [
    ...new Set([
      ...failures,
      ...PLANE_FAILURES[plane],
      ...(orOwner ? PLANE_FAILURES.owner : []),
      ...(BODYLESS.includes(method) ? [] : BODY),
      ...(BODYLESS.includes(method) && plane === 'public' ? PACED : []),
      ...(idempotent === 'optional' ? OPTIONAL_KEY : idempotent ? KEY : []),
      ...(refusesFilters(plane) && filtersOf(route) !== null
        ? (['validation_error'] as const)
        : []),
      ...(query?.after === PAGE_QUERY.after ? (['invalid_query'] as const) : []),
      'service_unavailable' as const,
    ]),
  ]
}
