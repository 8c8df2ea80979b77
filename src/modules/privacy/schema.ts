import { type Static, Type } from 'typebox'
import { CustomerRef, Id, Nullable, OpenObject, Timestamp } from '../../kernel/schema.ts'

export const ExportRequest = Type.Object({ customer_ref: CustomerRef })

const exportFields = {
  id: Id,
  status: Type.Enum(['pending', 'done', 'failed']),
  created_at: Timestamp,
  done_at: Nullable(Timestamp),
  expires_at: Timestamp,
}

export const ExportJob = Type.Object(exportFields)
export type ExportJob = Static<typeof ExportJob>

export const ExportStarted = Type.Object({ job: ExportJob })

export const ExportRead = Type.Object({
  job: Type.Object({
    ...exportFields,
    error: Nullable(Type.String({ description: 'Why the export failed.' })),
  }),
  data: Nullable(OpenObject),
})

export const ExportRow = Type.Object({
  ...exportFields,
  error: Nullable(Type.String()),
  sealed: Nullable(Type.Unsafe<Buffer>({})),
})

export const ErasureRequest = Type.Object({
  customer_ref: CustomerRef,
  confirm: Type.Optional(Type.String({ maxLength: 2_000 })),
})

/** The data that an erasure would erase, as counts, and the token that confirms it. */
export const ErasureAnnounced = Type.Object(
  {
    confirm: Type.String(),
    expires_at: Timestamp,
    orders: Type.Integer({ minimum: 0 }),
    open_orders: Type.Integer({
      minimum: 0,
      description: 'The number of open orders. They lose their shipping address.',
    }),
    guest_refs: Type.Array(Type.String(), {
      description:
        'Other customer references that ordered with the same e-mail address. They are erased too.',
    }),
  },
  {
    'x-response-description':
      'What would be erased. Nothing is erased yet: send `confirm` to erase it.',
  },
)

export const ErasureDone = Type.Object({
  erasure: Type.Object({
    id: Id,
    pseudonym: Type.String({ description: 'The `customer_ref` that the orders have from now on.' }),
    orders: Type.Integer({ minimum: 0 }),
  }),
})

/** An erasure that has begun. */
export const ErasureRow = Type.Object({
  id: Id,
  customer_ref: Nullable(Type.String()),
  guest_refs: Type.Array(Type.String()),
  emails: Type.Array(Type.String()),
  pseudonym: Type.String(),
  actor: Type.String(),
  orders: Type.Integer(),
  created_at: Timestamp,
})
export type ErasureRow = Static<typeof ErasureRow>
