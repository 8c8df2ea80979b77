import { type Gateway, notSent, unreachable } from './gateway.ts'

export interface NmiGateways {
  open(account: { securityKey: string | null; tenant: string }): Gateway
  close(): Promise<void>
}

/** Not connected yet: nothing is sent, and everybody is told so. */
export function openNmiGateways(_url: string): NmiGateways {
  const refuse = async () => notSent()
  return {
    open: () => ({
      name: 'nmi',
      authorize: refuse,
      capture: refuse,
      sale: refuse,
      void: refuse,
      refund: refuse,
      vaultAdd: refuse,
      vaultCharge: refuse,
      lookup: async () => unreachable(),
      listRecords: async () => null,
    }),
    close: async () => {},
  }
}
