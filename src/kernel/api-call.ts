/** A call of the API that was made with a merchant key. */
export interface ApiCall {
  tenant: string
  credentialId: string
  /** Business time of the store, in milliseconds since 1970. */
  atMs: number
}
