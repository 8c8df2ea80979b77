import type { FastifyContextConfig } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { TenantDb } from '../../db/database.ts'
import type { ErrorCode } from '../../error-codes.ts'
import type { App } from '../../http/route.ts'
import type { Changing } from './change.ts'
import { type CardDeps, replaceCard } from './new-card.ts'
import type { Whose } from './read.ts'
import { OneSubscription, type Subscription } from './schema.ts'
import { Cancel, NewCard, Pause, Resume, ShopperCard, Skip } from './verb-schema.ts'
import * as verbs from './verbs.ts'

/** The routes of the verbs, for merchants and shoppers: the same functions under two paths. */

/** Where the verbs are registered, and whose subscriptions they change. */
export interface Plane {
  base: string
  config: FastifyContextConfig & { failures: readonly ErrorCode[] }
  tags: string[]
  params: TObject
  nameOf(verb: string): string
  whoseOf(request: { query: unknown }): Whose
  byShopper: boolean
}

const CHANGE: readonly ErrorCode[] = [
  'subscription_not_found',
  'invalid_transition',
  'charge_in_progress',
  'stale_subscription',
]

/** The error codes of each kind of change. */
export const FAILURES = {
  verb: CHANGE,
  cycle: [...CHANGE, 'cycle_closed'],
  change: [
    ...CHANGE,
    'variant_not_found',
    'not_subscribable',
    'currency_mismatch',
    'country_not_served',
  ],
  card: [...CHANGE, 'payment_declined', 'card_unusable', 'fraud_rejected', 'velocity_exceeded'],
} satisfies Record<string, readonly ErrorCode[]>

interface Verb<B extends TSchema> {
  name: string
  /** The last part of its path, where it differs from the name. */
  path?: string
  summary: string
  body: B
  failures: readonly ErrorCode[]
  run(db: TenantDb, changing: Changing, body: Static<B>): Promise<Subscription>
}

function addVerb<B extends TSchema>(app: App, plane: Plane, verb: Verb<B>): void {
  const { base, config, tags, params, nameOf, whoseOf } = plane
  const { name, path = name, summary, body, failures, run } = verb
  app.post(
    `${base}/:id/${path}`,
    {
      config: { ...config, failures: [...config.failures, ...failures] },
      schema: {
        operationId: nameOf(name),
        tags,
        summary,
        params,
        body: body as TSchema,
        response: { 200: OneSubscription },
      },
      // Every member is optional, so the body is, too.
      preValidation: async (request) => {
        request.body ??= {}
      },
    },
    async (request) => {
      const { db, actor } = request
      const { id } = request.params as { id: string }
      const sent = request.body as Static<B> & { version?: number }
      const changing = { actor, whose: whoseOf(request), id, version: sent.version }
      return { subscription: await run(db, changing, sent) }
    },
  )
}

export function verbRoutes(app: App, plane: Plane, deps: CardDeps): void {
  addVerb(app, plane, {
    name: 'pause',
    summary: 'Pause a subscription, until a time or until it is resumed. A pause uses up no cycle.',
    body: Pause,
    failures: FAILURES.verb,
    run: verbs.pause,
  })
  addVerb(app, plane, {
    name: 'resume',
    summary:
      'Resume a paused subscription on its next date, or undo a cancellation at the end of the period.',
    body: Resume,
    failures: FAILURES.verb,
    run: verbs.resume,
  })
  addVerb(app, plane, {
    name: 'skip',
    summary: 'Skip a cycle, once. A declined charge that is skipped is given up.',
    body: Skip,
    failures: FAILURES.cycle,
    run: verbs.skip,
  })
  addVerb(app, plane, {
    name: 'unskip',
    summary: 'Undo the skip of a cycle, before its date.',
    body: Skip,
    failures: FAILURES.cycle,
    run: verbs.unskip,
  })
  addVerb(app, plane, {
    name: 'cancel',
    summary: 'Cancel a subscription at once, or at the end of the period that is paid.',
    body: Cancel,
    failures: FAILURES.verb,
    run: verbs.cancel,
  })
  addVerb(app, plane, {
    name: 'changeCardOf',
    path: 'payment-method',
    summary:
      'Give a subscription another card. It is verified and stored by the gateway; a declined charge is tried again with it.',
    body: plane.byShopper ? ShopperCard : NewCard,
    failures: FAILURES.card,
    run: (db, changing, body) => replaceCard(deps, db, changing, body),
  })
}
