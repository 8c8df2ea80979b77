import type { Store } from '../stores/schema.ts'
import type { FullVersion, VersionRow } from './schema.ts'

/**
 * Answers that carry a manifest are put together as text around it, so that it leaves as it came:
 * parsed and written anew, its keys would be reordered and its numbers respelled.
 */

/** A JSON object whose last member is the manifest, cut before it. */
export interface Spliced {
  head: string
  /** The manifest and the bracket behind it: the same for every answer that carries it. */
  rest: string
}

function before(members: object, manifest: string): Spliced {
  const text = JSON.stringify(members).slice(0, -1)
  return { head: `${text}${text === '{' ? '' : ','}"manifest":`, rest: `${manifest}}` }
}

export const toText = ({ head, rest }: Spliced): string => head + rest

export const liveSite = (store: Store, { version, manifest }: FullVersion): Spliced =>
  before({ tenant_ref: store.tenant_ref, version }, manifest)

const resolved = (store: Store, version: FullVersion) => ({
  tenantRef: store.tenant_ref,
  storeNumber: store.store_number,
  status: store.status,
  manifestVersion: version.version,
})

/** A host that is not the store's first one is to be sent there. */
export function resolvedSite(store: Store, version: FullVersion, hostname: string | null): Spliced {
  const canonicalHostname = store.primary_hostname
  const elsewhere =
    hostname !== null && canonicalHostname !== null && hostname !== canonicalHostname
  const redirect = elsewhere ? `https://${canonicalHostname}` : null
  const members = { ...resolved(store, version), hostname, canonicalHostname, redirect }
  return before(members, version.manifest)
}

export const resolvedPreview = (store: Store, version: FullVersion, expiresAt: string): Spliced =>
  before(
    { ...resolved(store, version), preview: { version: version.version, expiresAt } },
    version.manifest,
  )

interface Overview {
  active: FullVersion | null
  draft: FullVersion | null
  versions: readonly VersionRow[]
  total: number
  activeVersion: number | null
}

export function siteOverview({ active, draft, versions, total, activeVersion }: Overview): string {
  const rows = versions.map((row) => ({ ...row, active: row.version === activeVersion }))
  return [
    `{"active":${active === null ? 'null' : toText(versionText(active))}`,
    `"draft":${draft === null ? 'null' : toText(versionText(draft, { createdAt: draft.createdAt }))}`,
    `"versions":${JSON.stringify(rows)}`,
    `"versions_total":${total}}`,
  ].join(',')
}

const versionText = ({ version, manifest, rowHash }: FullVersion, more: object = {}): Spliced =>
  before({ version, rowHash, ...more }, manifest)
