/** A figure that is no request: how it reads, and whether it holds. */
export interface Drill {
  line: string
  holds: boolean
}

export const percent = (share: number) => `${Math.round(share * 100)} %`
