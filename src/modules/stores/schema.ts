import { type Static, Type } from 'typebox'
import { Currency, Email, Nullable, Shared, TenantRef, Timestamp } from '../../kernel/schema.ts'

export const StoreStatus = Type.Enum(['draft', 'live', 'suspended'])
export type StoreStatus = Static<typeof StoreStatus>

/** How much shoppers learn about stock, beside whether something can be bought. */
const StockHint = Type.Enum(['none', 'low', 'count'], {
  description:
    'What public answers say where few units are left: nothing, `low_stock`, or also `available_units`.',
})

const AutoDeliverDays = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: 365,
    description:
      'How many days after a parcel was shipped it counts as delivered by itself. `null`: never. Holds for parcels that are shipped, or whose tracking is changed, from then on; `null` holds for all.',
  }),
)

const Sandbox = Type.Boolean({
  description:
    'Whether the store is a sandbox: it can move its own time (`/v1/my/test-clock`), and pays with the simulated gateway alone.',
})

/** A store as its owner and the operator see it. The fields that the site builder reads are in camel case. */
export const Store = Shared(
  'Store',
  Type.Object({
    tenant_ref: Type.String(),
    store_number: Type.Integer(),
    display_name: Type.String(),
    status: StoreStatus,
    owner_email: Nullable(Type.String()),
    currency: Type.String(),
    language: Type.String(),
    time_zone: Type.String(),
    stock_hint: StockHint,
    auto_deliver_days: AutoDeliverDays,
    sandbox: Sandbox,
    primary_hostname: Nullable(Type.String()),
    activeVersion: Nullable(Type.Integer()),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type Store = Static<typeof Store>

const DisplayName = Type.String({ minLength: 1, maxLength: 200 })

/** The longest tag that BCP 47 requires software to store. */
export const LANGUAGE_LENGTH_MAX = 35

const settings = {
  currency: Type.Optional(Currency),
  language: Type.Optional(Type.String({ minLength: 2, maxLength: LANGUAGE_LENGTH_MAX })),
  time_zone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
}

export const NewStore = Type.Object({
  tenant_ref: TenantRef,
  display_name: DisplayName,
  owner_email: Type.Optional(Email),
  ...settings,
  sandbox: Type.Optional(Sandbox),
})
export type NewStore = Static<typeof NewStore>

export const StorePatch = Type.Object({
  display_name: Type.Optional(DisplayName),
  ...settings,
  stock_hint: Type.Optional(StockHint),
  auto_deliver_days: Type.Optional(AutoDeliverDays),
})
export type StorePatch = Static<typeof StorePatch>

export const StatusChange = Type.Object({
  status: StoreStatus,
  reason: Type.Optional(Type.String({ maxLength: 2_000 })),
})
export type StatusChange = Static<typeof StatusChange>

export const SandboxChange = Type.Object({ sandbox: Sandbox })

export const OwnerChange = Type.Object({ email: Email })
