import type { Store } from '../stores/schema.ts'
import type { FullVersion, VersionRow } from './schema.ts'

/**
 * Answers that carry a manifest are put together as text around it, so that it leaves as it came:
 * parsed and written anew, its keys would be reordered and its numbers respelled.
 */

/** A JSON object cut where the manifest goes in. */
export interface Spliced {
  head: string
  manifest: string
  tail: string
}

/** Everything before the manifest ends with a comma, everything after it begins with one. */
function around(before: object, manifest: string, after: object = {}): Spliced {
  const members = JSON.stringify(before).slice(1, -1)
  const rest = JSON.stringify(after).slice(1)
  return {
    head: `{${members}${members === '' ? '' : ','}"manifest":`,
    manifest,
    tail: rest === '}' ? rest : `,${rest}`,
  }
}

export const toText = ({ head, manifest, tail }: Spliced): string => head + manifest + tail

export const liveSite = (store: Store, { version, manifest }: FullVersion): Spliced =>
  around({ tenant_ref: store.tenant_ref, version }, manifest)

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
  const after = { hostname, canonicalHostname, redirect }
  return around(resolved(store, version), version.manifest, after)
}

export const resolvedPreview = (store: Store, version: FullVersion, expiresAt: string): Spliced =>
  around(resolved(store, version), version.manifest, {
    preview: { version: version.version, expiresAt },
  })

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
  around({ version }, manifest, { rowHash, ...more })
