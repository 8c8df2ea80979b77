import { type Static, Type } from 'typebox'
import { Nullable, OpenObject, Shared, Timestamp } from '../../kernel/schema.ts'
import { Finding } from '../claims/schema.ts'

const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const RowHash = Type.String({ pattern: '^[0-9a-f]{64}$' })

const Section = Type.Object({ type: Type.String({ minLength: 1 }), props: OpenObject })

/** The contract's members of a manifest. Each block is open: other members are stored too. */
export const Manifest = Type.Object(
  {
    store: Type.Optional(OpenObject),
    brand: Type.Optional(OpenObject),
    theme: Type.Optional(OpenObject),
    template: Type.Optional(
      Type.Object(
        { id: Type.String(), sections: Type.Array(Section) },
        { additionalProperties: true },
      ),
    ),
    seo: Type.Optional(OpenObject),
    behavior: Type.Optional(OpenObject),
    tax: Type.Optional(
      Type.Object(
        {
          prices_include_tax: Type.Optional(
            Type.Boolean({
              description:
                'True: the prices of the store have the tax inside. It holds for orders placed while this version is published. Default: false.',
            }),
          ),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { additionalProperties: true },
)
export type Manifest = Static<typeof Manifest>

export const ManifestBody = Type.Object({ manifest: Manifest })

/** Names a version by its number. A number that no version has is answered as not found. */
export const VersionBody = Type.Object({ version: Type.Integer() })

/** A problem in a manifest that was stored all the same. */
export const Warning = Type.Object({
  path: Type.String({ description: 'The place in the manifest, as a JSON Pointer (RFC 6901).' }),
  code: Type.Enum(['unregistered_section', 'unexpected_props', 'unusable_statement']),
  message: Type.String(),
})
export type Warning = Static<typeof Warning>

export const SavedVersion = Type.Object({ version: Version, rowHash: RowHash })
export const SavedDraft = Type.Object({
  ...SavedVersion.properties,
  warnings: Type.Array(Warning),
})
export const OperatorSaved = Type.Object({
  ...SavedDraft.properties,
  ruoWarnings: Type.Array(Finding),
})

export const ScanReport = Type.Object({
  passed: Type.Boolean(),
  findings: Type.Array(Finding),
  truncated: Type.Optional(Type.Boolean()),
})

export const PreviewToken = Type.Object({
  token: Type.String({ pattern: '^fdpv_' }),
  version: Version,
  expiresAt: Timestamp,
})

/** A version's row, without its manifest. */
export const VersionRow = Type.Object({
  version: Version,
  rowHash: RowHash,
  createdAt: Timestamp,
  brandName: Nullable(Type.String()),
})
export type VersionRow = Static<typeof VersionRow>

/** A version's row with its manifest, as the text that was received. */
export const FullVersion = Type.Object({ ...VersionRow.properties, manifest: Type.String() })
export type FullVersion = Static<typeof FullVersion>

export const SiteOverview = Shared(
  'SiteOverview',
  Type.Object({
    active: Nullable(Type.Object({ version: Version, manifest: OpenObject, rowHash: RowHash })),
    draft: Nullable(
      Type.Object({
        version: Version,
        manifest: OpenObject,
        rowHash: RowHash,
        createdAt: Timestamp,
      }),
    ),
    versions: Type.Array(Type.Object({ ...VersionRow.properties, active: Type.Boolean() })),
    versions_total: Type.Integer(),
  }),
)

export const LiveSite = Shared(
  'LiveSite',
  Type.Object({ tenant_ref: Type.String(), version: Version, manifest: OpenObject }),
)

const resolved = {
  tenantRef: Type.String(),
  storeNumber: Type.Integer(),
  status: Type.String(),
  manifestVersion: Version,
  manifest: OpenObject,
}

export const ResolvedSite = Shared(
  'ResolvedSite',
  Type.Object({
    ...resolved,
    hostname: Nullable(Type.String()),
    canonicalHostname: Nullable(Type.String()),
    redirect: Nullable(Type.String()),
  }),
)

export const ResolvedPreview = Shared(
  'ResolvedPreview',
  Type.Object({
    ...resolved,
    preview: Type.Object({ version: Version, expiresAt: Timestamp }),
  }),
)
