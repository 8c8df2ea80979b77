import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { DOMAIN_STATUSES, Domain, type DomainRow, DomainStatus, NewDomain } from './schema.ts'
import * as domains from './service.ts'

export interface DomainDeps extends domains.Verifier {
  /** The host of `PUBLIC_URL`: where hostnames must point, and a zone that no store may claim. */
  platformHost: string
  /** Drops the cached answers of a host in this process, before the change of it is answered. */
  forgetHost(hostname: string): void
}

const OneDomain = Type.Object({ domain: ref(Domain) })
const DomainPage = PageOf('domains', ref(Domain))
const LIST_QUERY = { status: DomainStatus, ...PAGE_QUERY }

const toAnswer =
  ({ platformHost }: Pick<DomainDeps, 'platformHost'>) =>
  (row: DomainRow): Domain => ({ ...row, dns_target: platformHost })

/**
 * The answer after a change. It drops the cached host first, so that the caller sees the change at
 * once.
 */
const toChangedAnswer =
  (deps: Pick<DomainDeps, 'platformHost' | 'forgetHost'>) =>
  (row: DomainRow): Domain => {
    deps.forgetHost(row.hostname)
    return toAnswer(deps)(row)
  }

const listRoute = (deps: Pick<DomainDeps, 'platformHost'>) => {
  const answer = toAnswer(deps)
  return async (db: Parameters<typeof domains.list>[0], query: unknown) => {
    const page = await domains.list(
      db,
      readOneOf(query, 'status', DOMAIN_STATUSES),
      readPage(query),
    )
    return { ...page, domains: page.domains.map(answer) }
  }
}

export const merchantRoutes =
  (deps: DomainDeps): Routes =>
  async (app) => {
    const answer = toAnswer(deps)
    const changed = toChangedAnswer(deps)
    const list = listRoute(deps)

    app.post(
      '/v1/merchant/domains',
      {
        config: {
          scope: 'manage:own_domains',
          failures: ['hostname_invalid', 'hostname_taken', 'domain_limit_reached'],
        },
        schema: {
          operationId: 'claimDomain',
          tags: ['merchant-ops'],
          summary: 'Claim a hostname. It becomes active once DNS has its TXT record.',
          body: NewDomain,
          response: { 200: OneDomain, 201: OneDomain },
        },
      },
      async ({ db, actor, body }, reply) => {
        const { domain, created } = await domains.claim(db, actor, body.hostname, deps.platformHost)
        return reply.code(created ? 201 : 200).send({ domain: answer(domain) })
      },
    )

    app.get(
      '/v1/merchant/domains',
      {
        config: { scope: 'manage:own_domains', query: LIST_QUERY },
        schema: {
          operationId: 'listDomains',
          tags: ['merchant-ops'],
          summary:
            "List the store's hostnames, newest first. `status=removed` lists the removed ones.",
          response: { 200: DomainPage },
        },
      },
      ({ db, query }) => list(db, query),
    )

    app.get(
      '/v1/merchant/domains/:id',
      {
        config: { scope: 'manage:own_domains', failures: ['domain_not_found'] },
        schema: {
          operationId: 'readDomain',
          tags: ['merchant-ops'],
          summary: 'Read a hostname and its status.',
          params: Params('id'),
          response: { 200: OneDomain },
        },
      },
      async ({ db, params }) => ({ domain: answer(await domains.get(db, params.id)) }),
    )

    app.post(
      '/v1/merchant/domains/:id/verify',
      {
        config: {
          scope: 'manage:own_domains',
          failures: ['domain_not_found', 'domain_not_active', 'hostname_taken'],
        },
        schema: {
          operationId: 'verifyDomain',
          tags: ['merchant-ops'],
          summary: 'Check the TXT record in DNS now, at most ten times a minute.',
          params: Params('id'),
          response: {
            200: Type.Object({
              domain: ref(Domain),
              checked: Type.Boolean({
                description: 'False: DNS did not answer, and nothing changed. Try again.',
              }),
            }),
          },
        },
      },
      async ({ db, actor, params }) => {
        const { domain, checked } = await domains.verify(deps, db, actor, params.id)
        return { domain: changed(domain), checked }
      },
    )

    app.post(
      '/v1/merchant/domains/:id/primary',
      {
        config: {
          scope: 'manage:own_domains',
          failures: ['domain_not_found', 'domain_not_active'],
        },
        schema: {
          operationId: 'setPrimaryDomain',
          tags: ['merchant-ops'],
          summary: 'Set the primary hostname, which must be active. The others redirect to it.',
          params: Params('id'),
          response: { 200: OneDomain },
        },
      },
      async ({ db, actor, params }) => ({
        domain: changed(await domains.setPrimary(db, actor, params.id)),
      }),
    )

    app.delete(
      '/v1/merchant/domains/:id',
      {
        config: { scope: 'manage:own_domains', failures: ['domain_not_found'] },
        schema: {
          operationId: 'removeDomain',
          tags: ['merchant-ops'],
          summary: 'Remove a hostname. If it was active, no other store can claim it for 30 days.',
          params: Params('id'),
          response: { 200: OneDomain },
        },
      },
      async ({ db, actor, params }) => ({
        domain: changed(await domains.remove(db, actor, params.id)),
      }),
    )
  }

export const operatorRoutes =
  (deps: Pick<DomainDeps, 'platformHost' | 'forgetHost'>): Routes =>
  async (app) => {
    const changed = toChangedAnswer(deps)
    const list = listRoute(deps)

    app.get(
      '/v1/stores/:tenant/domains',
      {
        config: { failures: ['unknown_tenant'], query: LIST_QUERY },
        schema: {
          operationId: 'listStoreDomains',
          tags: ['operator'],
          summary:
            'List the hostnames of a store, newest first. `status=removed` lists the removed ones.',
          params: Params('tenant'),
          response: { 200: DomainPage },
        },
      },
      ({ db, query }) => list(db, query),
    )

    app.delete(
      '/v1/stores/:tenant/domains/:id',
      {
        config: { failures: ['unknown_tenant', 'domain_not_found'] },
        schema: {
          operationId: 'removeStoreDomain',
          tags: ['operator'],
          summary: 'Remove a hostname from a store. Another store can claim it at once.',
          params: Params('tenant', 'id'),
          response: { 200: OneDomain },
        },
      },
      async ({ db, actor, params }) => ({
        domain: changed(await domains.release(db, actor, params.id)),
      }),
    )

    app.post(
      '/v1/stores/:tenant/domains/:id/activate',
      {
        config: {
          failures: ['unknown_tenant', 'domain_not_found', 'domain_not_active', 'hostname_taken'],
        },
        schema: {
          operationId: 'activateDomain',
          tags: ['operator'],
          summary: 'Activate a hostname without a check of DNS.',
          params: Params('tenant', 'id'),
          response: { 200: OneDomain },
        },
      },
      async ({ db, actor, params }) => ({
        domain: changed(await domains.activate(db, actor, params.id)),
      }),
    )
  }
