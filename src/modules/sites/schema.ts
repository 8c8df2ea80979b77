import { type Static, Type } from 'typebox'
import { Nullable, OpenObject, PAGE_MEMBERS, Shared, Timestamp } from '../../kernel/schema.ts'
import { SHOWN_TO_SHOPPERS } from '../entitlements/catalog.ts'
import { Finding } from '../health-claims/schema.ts'

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

/** Names a version by its number. For a number that no version has, the answer is not found. */
export const VersionBody = Type.Object({ version: Type.Integer() })

const Described = {
  meaning: Type.String({ description: 'What the value is for.' }),
  required: Type.Boolean({ description: 'Whether the section needs it to be shown well.' }),
  default: Nullable(Type.Any({ description: 'What is shown without it; null for nothing.' })),
}

/** A value without members of its own, as `manifest/prop.ts` describes it. */
const SimpleProp = Type.Object({
  kind: Type.String({ description: 'The form of the value, such as `line`, `link` or `choice`.' }),
  ...Described,
  length_max: Type.Optional(Type.Integer({ description: 'The greatest number of characters.' })),
  min: Type.Optional(Type.Number()),
  max: Type.Optional(Type.Number()),
  choices: Type.Optional(Type.Array(Type.String())),
})

/** The entries of a list. */
const List = {
  count_max: Type.Optional(Type.Integer({ description: 'The greatest number of entries.' })),
  entry_kind: Type.Optional(
    Type.String({ description: 'The form of each entry of a list: `object`, or that of a text.' }),
  ),
}

/** A value that may be an object or a list: these also describe their contents. */
const SectionProp = Type.Object({
  ...SimpleProp.properties,
  ...List,
  props: Type.Optional(
    Type.Record(Type.String(), Type.Object({ ...SimpleProp.properties, ...List }), {
      description: 'The members of the object, or of each entry of the list.',
    }),
  ),
})
export type SectionProp = Static<typeof SectionProp>

export const SectionCatalog = Shared(
  'SectionCatalog',
  Type.Object({
    sections: Type.Array(
      Type.Object({
        type: Type.String(),
        title: Type.String(),
        meaning: Type.String({ description: 'What a shopper sees.' }),
        placement: Type.Enum(['page', 'header', 'footer'], {
          description: 'In its place on the page, or above or below every page.',
        }),
        count_max: Nullable(
          Type.Integer({ description: 'How many of this type are shown; null for all.' }),
        ),
        props: Type.Record(Type.String(), SectionProp),
        example: OpenObject,
        picture: Type.String({ description: 'A drawing of the section, as SVG.' }),
      }),
    ),
    theme: Type.Record(Type.String(), Type.Record(Type.String(), SimpleProp), {
      description: 'The members of `theme`, by block.',
    }),
    pages: Type.Record(Type.String(), SimpleProp, {
      description: 'The members of each entry of `pages`, beside `sections`.',
    }),
    menus: Type.Record(Type.String(), SectionProp, { description: 'The members of `menus`.' }),
    behavior: Type.Record(Type.String(), SectionProp, {
      description:
        'The members of `behavior`. A `shipping` or `tax` that is present and has a fault is refused (422 `unreadable_policy`).',
    }),
    brand: Type.Record(Type.String(), SimpleProp, { description: 'The members of `brand`.' }),
  }),
)
export type SectionCatalog = Static<typeof SectionCatalog>

/** A problem in a manifest that was stored nevertheless. */
export const Warning = Type.Object({
  path: Type.String({ description: 'The place in the manifest, as a JSON Pointer (RFC 6901).' }),
  code: Type.Enum([
    'unregistered_section',
    'unexpected_props',
    'unexpected_value',
    'unusable_statement',
  ]),
  message: Type.String(),
})
export type Warning = Static<typeof Warning>

export const SavedDraft = Type.Object({
  version: Version,
  rowHash: RowHash,
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

export const SiteVersion = Shared(
  'SiteVersion',
  Type.Object({ ...VersionRow.properties, active: Type.Boolean(), manifest: OpenObject }),
)

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
    versions_total: Type.Integer({ description: 'How many versions were ever saved.' }),
    ...PAGE_MEMBERS,
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
  sandbox: Type.Optional(
    Type.Literal(true, {
      description: 'Present for a sandbox store, which takes no real money. Tell its shoppers.',
    }),
  ),
  addOns: Type.Optional(
    Type.Array(Type.Enum([...SHOWN_TO_SHOPPERS]), {
      description:
        'The add-ons that are on, of those that change what pages offer; left out where none is. A manifest says what the store wants to offer: without `subscriptions` no product can be subscribed to, and without `subscribe_and_save` a subscription is sold at the price of a single purchase, whatever `subscription_price_cents` says.',
    }),
  ),
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
