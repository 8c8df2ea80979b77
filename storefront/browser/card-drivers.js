/**
 * How the page works with the scripts of gateways that have card fields of their own: whether a script is loaded, how
 * it puts its fields into their places, and how it is asked for the token of the card. `endToken` gets the token: an
 * empty text if the card is wrong, with `true` if the gateway has not answered.
 */

/** How long a gateway may take for a token. */
const TOKEN_MS = 20_000

export const CARD_DRIVERS = {
  collect: {
    isLoaded: () => Boolean(window.CollectJS),
    mount({ color, fontSize, placeOf, endToken }) {
      window.CollectJS.configure({
        variant: 'inline',
        styleSniffer: 'false',
        customCss: { color, 'font-size': fontSize, border: '0', 'background-color': 'transparent' },
        fields: {
          ccnumber: placeOf('number'),
          ccexp: placeOf('expiry'),
          cvv: { ...placeOf('cvv'), display: 'required' },
        },
        timeoutDuration: TOKEN_MS,
        timeoutCallback: () => endToken('', true),
        validationCallback: (_field, isValid) => {
          if (!isValid) endToken('')
        },
        callback: ({ token }) => endToken(token),
      })
    },
    ask: () => window.CollectJS.startPaymentRequest(),
  },
}
