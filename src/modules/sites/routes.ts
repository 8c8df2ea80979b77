import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ApiError, invalidBody } from '../../errors.ts'
import { matchesEtag } from '../../http/etag.ts'
import { jsonResponse, type LiveRead, refusalResponse, sendCached } from '../../http/live.ts'
import type { Routes } from '../../http/route.ts'
import { pageQuery, readPage } from '../../kernel/page.ts'
import { headerText, readText } from '../../kernel/query.ts'
import { Params, ref } from '../../kernel/schema.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import * as healthClaims from '../health-claims/service.ts'
import * as live from './live-reads.ts'
import type { ReceivedManifest } from './manifest.ts'
import { resolvedPreview, siteOverview, siteVersion, toText } from './manifest-json.ts'
import {
  LiveSite,
  type Manifest,
  ManifestBody,
  OperatorSaved,
  PreviewToken,
  ResolvedPreview,
  ResolvedSite,
  SavedDraft,
  ScanReport,
  SectionCatalog,
  SiteOverview,
  SiteVersion,
  VersionBody,
} from './schema.ts'
import { sectionCatalogText } from './section-catalog.ts'
import * as sites from './service.ts'

/** A manifest is the largest JSON body of the API. */
const manifestRoute = { bodyLimit: 2 * 1_024 * 1_024 }

const REASON_LENGTH_MAX = 2_000
const SAVE_FAILURES = [
  'ruo_claims_violation',
  'unreadable_policy',
  'scan_unavailable',
  'limit_reached',
] as const

const receivedManifest = ({ body, verbatim }: FastifyRequest): ReceivedManifest => ({
  value: (body as { manifest: Manifest }).manifest,
  text: verbatim,
})

function writerOf({ db, actor }: FastifyRequest, scanner: Scanner): sites.Writer {
  return { db, actor, scanner }
}

const ANSWERS: live.PublicAnswers = {
  found: jsonResponse,
  unknown: refusalResponse(new ApiError('unknown_tenant')),
}

const SITE_URL = '/v1/tenants/:tenant/site'
const RESOLVE_URL = '/v1/resolve'

/** The URLs that are answered from memory. Any other spelling goes to its route. */
const SITE_PATH = /^\/v1\/tenants\/([a-z0-9-]{3,63})\/site$/
const RESOLVE_PATH = /^\/v1\/resolve\?(tenant|hostname)=([a-z0-9.-]{1,253})$/

export const liveReads = (cache: LiveCache): LiveRead[] => [
  {
    route: SITE_URL,
    isAddressKey: true,
    find: (url) => {
      const tenant = SITE_PATH.exec(url)?.[1]
      return tenant === undefined ? null : live.findSite(cache, tenant)
    },
  },
  {
    route: RESOLVE_URL,
    isAddressKey: false,
    find: (url) => {
      const [, by, name] = RESOLVE_PATH.exec(url) ?? []
      if (name === undefined) return null
      return by === 'tenant' ? live.findByTenant(cache, name) : live.findByHostname(cache, name)
    },
  },
]

/**
 * How caches keep the section types, which change only with a release: for an hour, so that a site builder sees a new
 * one soon.
 */
const SECTIONS_CACHED = 'public, max-age=3600'

export const publicRoutes =
  (deps: Omit<live.LiveDeps, 'answers'>, preview: sites.PreviewDeps): Routes =>
  async (app) => {
    const { cache, database } = deps
    const reads = { ...deps, answers: ANSWERS }
    const catalog = sectionCatalogText()

    app.get(
      SITE_URL,
      {
        config: {
          withoutCacheControl: true,
          failures: ['unknown_tenant', 'resolve_unavailable'],
        },
        schema: {
          operationId: 'readSite',
          tags: ['public'],
          summary: 'Read the site of a live store. Supports ETag and If-None-Match (304).',
          params: Params('tenant'),
          response: { 200: ref(LiveSite) },
        },
      },
      async (request, reply) => {
        const answer = await live.readSite(reads, request.params.tenant)
        return sendCached(request, reply, cache, answer)
      },
    )

    app.get(
      RESOLVE_URL,
      {
        config: {
          withoutCacheControl: true,
          failures: ['invalid_query', 'unknown_tenant', 'resolve_unavailable'],
          query: { hostname: Type.String(), tenant: Type.String() },
        },
        schema: {
          operationId: 'resolveSite',
          tags: ['public'],
          summary: 'Resolve a hostname or tenant to its live store. Supports If-None-Match (304).',
          response: { 200: ref(ResolvedSite) },
        },
      },
      async (request, reply) => {
        const hostname = readText(request.query, 'hostname')
        const tenant = readText(request.query, 'tenant')
        if ((hostname === undefined) === (tenant === undefined)) {
          throw new ApiError('invalid_query', {
            message: 'Send hostname or tenant, but not both.',
          })
        }
        const answer =
          tenant === undefined
            ? await live.readByHostname(reads, hostname ?? '')
            : await live.readByTenant(reads, tenant)
        return sendCached(request, reply, cache, answer)
      },
    )

    app.get(
      '/v1/sections',
      {
        config: { failures: [] },
        schema: {
          operationId: 'listSectionTypes',
          tags: ['public'],
          summary:
            'List the section types, theme tokens, pages and menus that a manifest may have.',
          description:
            'Each type with its props, their defaults and limits, an example and a drawing. The answer is the same for every store and changes with a release only; it has an ETag and supports If-None-Match (304).',
          response: { 200: ref(SectionCatalog) },
        },
      },
      (request, reply) => sendSections(request, reply, catalog),
    )

    app.get(
      '/v1/preview-resolve',
      {
        config: {
          failures: ['invalid_preview_token'],
          query: {
            token: Type.String(),
            hostname: Type.String({
              description:
                "The host that shows the preview: it must be an active one of the same store. Send it, unless the host belongs to no store, such as the renderer's own.",
            }),
          },
        },
        schema: {
          operationId: 'resolvePreview',
          tags: ['public'],
          summary: 'Resolve a preview token to its site version. The answer is never cached.',
          response: { 200: ref(ResolvedPreview) },
        },
      },
      async (request, reply) => {
        const token = readText(request.query, 'token') ?? ''
        // An empty name is also a host: one that belongs to no store.
        const isNamed = Object.hasOwn(Object(request.query), 'hostname')
        const hostname = isNamed ? (readText(request.query, 'hostname') ?? '') : undefined
        const found = await sites.readPreview(database, preview, { token, hostname })
        const text = toText(resolvedPreview(found, found.expiresAt))
        return reply
          .header('cache-control', 'no-store')
          .type('application/json')
          .send(text as never)
      },
    )
  }

async function sendSections(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { text, etag }: { text: string; etag: string },
) {
  reply.header('etag', etag).header('cache-control', SECTIONS_CACHED)
  if (matchesEtag(headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type('application/json').send(text)
}

/**
 * How many versions a page of the overview has. By the contract the overview has all of them; a store saves fewer
 * than 500 as a rule.
 */
const VERSIONS = { limitDefault: 500, limitMax: 500 }

export const merchantRoutes =
  (scanner: Scanner, preview: sites.PreviewDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/my/site',
      {
        config: { scope: 'read:own_store', query: pageQuery(VERSIONS) },
        schema: {
          operationId: 'readSiteOverview',
          tags: ['merchant-ops'],
          summary:
            'Read the active version, the newest draft and a page of the versions, newest first.',
          response: { 200: ref(SiteOverview) },
        },
      },
      async ({ db, query }, reply) => {
        const text = siteOverview(await sites.overview(db, readPage(query, VERSIONS)))
        return reply.type('application/json').send(text as never)
      },
    )

    app.get(
      '/v1/my/site/versions/:version',
      {
        config: { scope: 'read:own_store', failures: ['version_not_found'] },
        schema: {
          operationId: 'readSiteVersion',
          tags: ['merchant-ops'],
          summary: 'Read any kept version of the site with its manifest, as it was saved.',
          params: Params('version'),
          response: { 200: ref(SiteVersion) },
        },
      },
      async ({ db, params }, reply) => {
        const { found, activeVersion } = await sites.readVersion(db, toVersion(params.version))
        return reply.type('application/json').send(siteVersion(found, activeVersion) as never)
      },
    )

    app.put(
      '/v1/my/site/draft',
      {
        ...manifestRoute,
        config: { scope: 'write:own_store', verbatim: 'manifest', failures: SAVE_FAILURES },
        schema: {
          operationId: 'saveSiteDraft',
          tags: ['merchant-ops'],
          summary: 'Save a manifest as a new draft version. The live site does not change.',
          body: ManifestBody,
          response: { 200: SavedDraft },
        },
      },
      (request) => sites.saveDraft(writerOf(request, scanner), receivedManifest(request)),
    )

    app.post(
      '/v1/my/site/publish',
      {
        config: {
          scope: 'write:own_store',
          failures: ['version_not_found', 'unreadable_policy'],
        },
        schema: {
          operationId: 'publishSite',
          tags: ['merchant-ops'],
          summary: 'Publish a version. To publish an older one is a rollback.',
          body: VersionBody,
          response: { 200: SavedDraft },
        },
      },
      ({ db, actor, body }) => sites.publish(db, actor, body.version),
    )

    app.post(
      '/v1/my/site/preview-token',
      {
        config: { scope: 'read:own_store', failures: ['version_not_found'] },
        schema: {
          operationId: 'createPreviewToken',
          tags: ['merchant-ops'],
          summary: 'Create a preview token for one version. It is valid for 30 minutes.',
          body: VersionBody,
          response: { 200: PreviewToken },
        },
      },
      ({ db, body }) => sites.createPreviewToken(db, preview, body.version),
    )

    app.put(
      '/v1/my/store/manifest',
      {
        ...manifestRoute,
        config: { scope: 'write:own_store', verbatim: 'manifest', failures: SAVE_FAILURES },
        schema: {
          operationId: 'saveActiveManifest',
          tags: ['merchant-ops'],
          summary: 'Save a manifest as a new version and publish it.',
          body: ManifestBody,
          response: { 200: SavedDraft },
        },
      },
      (request) => sites.saveActive(writerOf(request, scanner), receivedManifest(request)),
    )
  }

export const operatorRoutes =
  (scanner: Scanner): Routes =>
  async (app) => {
    app.put(
      '/v1/stores/:tenant/manifest',
      {
        ...manifestRoute,
        config: {
          verbatim: 'manifest',
          failures: ['unknown_tenant', ...SAVE_FAILURES],
          headers: {
            'x-guardrails-override': Type.String({
              maxLength: REASON_LENGTH_MAX,
              description: 'Why a prohibited health claim is published. It is audited.',
            }),
          },
        },
        schema: {
          operationId: 'saveStoreManifest',
          tags: ['operator'],
          summary: 'Save and publish a manifest, with an override of prohibited health claims.',
          params: Params('tenant'),
          body: ManifestBody,
          response: { 200: OperatorSaved },
        },
      },
      async (request) => {
        const reason = readReason(request)
        const { findings, ...saved } =
          reason === undefined
            ? await sites.saveActive(writerOf(request, scanner), receivedManifest(request))
            : await sites.saveOverridden(
                writerOf(request, scanner),
                receivedManifest(request),
                reason,
              )
        return { ...saved, ruoWarnings: findings }
      },
    )

    app.post(
      '/v1/stores/:tenant/manifest/scan',
      {
        ...manifestRoute,
        config: { failures: ['unknown_tenant', 'scan_unavailable'] },
        schema: {
          operationId: 'scanManifest',
          tags: ['operator'],
          summary: 'Scan a manifest for health claims. Nothing is written.',
          params: Params('tenant'),
          body: ManifestBody,
          response: { 200: ScanReport },
        },
      },
      async ({ body, db }) => {
        const options = { scanner, store: db.tenant }
        const { passed, findings, truncated } = await healthClaims.scan(body.manifest, options)
        return { passed, findings, ...(truncated ? { truncated } : {}) }
      },
    )
  }

/** Reads the number of a version. A text that is not a number becomes 0, which no version has. */
const toVersion = (text: string): number => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0)

/** Reads the operator's reason to publish despite health claims. */
function readReason({ headers }: FastifyRequest): string | undefined {
  const reason = headerText(headers['x-guardrails-override'])
  if (reason === undefined || reason.length <= REASON_LENGTH_MAX) return reason
  throw invalidBody('x-guardrails-override', 'must be at most 2000 characters')
}
