import type { ErrorTexts } from './en-errors.ts'

const ENTER_CARD = 'Introduce una tarjeta para pagar.'
const TRY_ANOTHER_CARD = 'No se ha cobrado nada. Prueba con otra tarjeta.'
const TOO_MANY_ATTEMPTS = 'Ha habido demasiados intentos. Espera un minuto e inténtalo de nuevo.'

export const esErrors: ErrorTexts = {
  fieldRequired: 'Rellena este campo.',
  checkEmail: 'Escribe una dirección de correo válida.',
  checkPostcode: (example) => `Revísalo: debería ser como ${example}.`,
  confirmToContinue: 'Confírmalo para continuar.',
  checkMarkedFields: 'Revisa los campos marcados.',
  enterCard: ENTER_CARD,
  checkCard: 'Revisa los datos de tu tarjeta.',
  cardFieldsFailed:
    'No se pudieron cargar los campos de la tarjeta del proveedor de pagos. Recarga la página.',
  cardNeedsScript:
    'Activa JavaScript para pagar con tarjeta: los campos son del proveedor de pagos.',
  cardNotHere:
    'El nuevo total es mayor que lo pagado y la diferencia no se puede pagar aquí. Haz otro pedido.',
  checkCardNumber: 'Revisa el número de tarjeta.',
  checkExpiry: 'Revisa la fecha de caducidad: mes y año, por ejemplo 10/40.',
  cardExpired: 'Esta tarjeta ha caducado. Usa otra.',
  checkSecurityCode: 'Introduce las tres o cuatro cifras del código de seguridad.',
  couponChanged: 'Hemos comprobado tu código de descuento. Revisa el total y después paga.',
  alreadySubmitted:
    'Esta cesta ya se ha enviado, quizá desde otra pestaña. Mira tus pedidos antes de pagar otra vez.',
  previousAttemptRefused:
    'Tu intento anterior no se completó y no se ha cobrado nada. Inténtalo de nuevo.',
  quoteExpired: 'Esta página ha estado abierta un rato. Revisa el total y después paga.',
  cartChanged: 'Tu cesta ha cambiado. Revisa tu pedido y después paga.',
  totalOfAddress: 'El total incluye ahora los impuestos de tu dirección. Revísalo y después paga.',
  declines: {
    card_declined: `Tu tarjeta ha sido rechazada. ${TRY_ANOTHER_CARD}`,
    insufficient_funds: `Tu tarjeta no tiene fondos suficientes. ${TRY_ANOTHER_CARD}`,
    card_not_supported: `No se acepta este tipo de tarjeta. ${TRY_ANOTHER_CARD}`,
    expired_card: `Tu tarjeta ha caducado. ${TRY_ANOTHER_CARD}`,
    incorrect_cvv:
      'El código de seguridad no corresponde a la tarjeta. No se ha cobrado nada. Revisa el código o prueba con otra tarjeta.',
    processing_error:
      'Tu banco no ha podido procesar el pago. No se ha cobrado nada. Inténtalo de nuevo o usa otra tarjeta.',
  },
  declined: `Tu pago ha sido rechazado. ${TRY_ANOTHER_CARD}`,
  refusals: {
    gift_card_spent:
      'Ya se ha gastado parte de la tarjeta regalo, por lo que no se puede reembolsar. Ponte en contacto con la tienda.',
    gift_card_issued:
      'Las tarjetas regalo de un pedido no se pueden cambiar. Ponte en contacto con la tienda.',
    feature_not_enabled:
      'La tienda no vende tarjetas regalo en este momento. Quítalas de la cesta.',
    return_window_closed: 'El plazo de devolución ha terminado.',
    final_sale: 'Estos productos no se pueden devolver.',
    quantity_exceeds_returnable: 'No se pueden devolver tantas unidades.',
    card_required: ENTER_CARD,
    fraud_rejected: 'No hemos podido aceptar este pedido. Ponte en contacto con la tienda.',
    unreadable_policy:
      'La tienda no puede aceptar pedidos en este momento. Ponte en contacto con la tienda.',
    country_not_served: 'No hacemos envíos a este país. Elige otro.',
    attestation_required: 'Confirma la declaración de la tienda y después paga.',
    insufficient_stock: 'No hay suficientes existencias. Elige una cantidad menor.',
    variant_not_found: 'Un artículo de tu cesta ya no está disponible. Quítalo, por favor.',
    price_changed: 'Un precio ha cambiado. Revisa el nuevo total y después paga.',
    velocity_exceeded: TOO_MANY_ATTEMPTS,
    rate_limited: TOO_MANY_ATTEMPTS,
    currency_mismatch:
      'Tus artículos tienen precios en monedas distintas. Haz un pedido para cada moneda.',
    gift_card_invalid:
      'Esta tarjeta regalo no se puede usar. No se ha cobrado nada. Quita el código o prueba con otro.',
    subscription_card_required:
      'Una suscripción necesita una tarjeta. Pague una parte con tarjeta o haga un pedido único sin suscripción.',
    feature_disabled:
      'La tienda ya no ofrece esta opción. No se ha cobrado nada. Revisa tu pedido y después paga.',
    invalid_transition: 'Eso ya no es posible para este pedido.',
    payment_request_closed: 'Este pedido ya no se puede pagar.',
    order_busy: 'Este pedido se está modificando. Inténtalo de nuevo en un momento.',
    idempotency_in_progress: 'Tu pedido se está procesando. Espera un momento.',
    disputed: 'El pago de este pedido está en disputa. Espera a que tu banco decida.',
    not_refundable: 'No queda nada por reembolsar.',
    amount_exceeds_refundable:
      'El importe es mayor de lo que queda por reembolsar. Introduce un importe menor.',
    charge_not_found: 'Este pago no es parte del pedido. Elige otro.',
    refund_failed: 'El banco no ha aceptado el reembolso. Inténtalo más tarde.',
    payment_unconfirmed:
      'Tu banco todavía no lo ha confirmado. No lo envíes otra vez; recarga esta página más tarde para ver el resultado.',
  },
  failed: 'Algo ha fallado por nuestra parte. No se ha cobrado nada. Inténtalo de nuevo.',

  coupons: {
    unknown: 'Este código no es válido. Comprueba que esté bien escrito.',
    expired: 'Este código ha caducado.',
    not_started: 'Este código todavía no es válido.',
    exhausted: 'Este código se ha usado demasiadas veces y ya no es válido.',
    per_customer: 'Ya has usado este código.',
    min_subtotal: 'Tu cesta no alcanza el importe mínimo de este código.',
    not_applicable: 'Este código no se aplica a los artículos de tu cesta.',
  },
  couponRefused: 'Este código no se puede usar.',

  refundedBefore: (amount) =>
    `Con este formulario ya se han reembolsado ${amount}, y ahora no se ha reembolsado nada más. Para otro reembolso, envíalo otra vez.`,
  editedBefore:
    'Este formulario ya se había enviado. Revisa tu pedido más abajo; para cambiarlo más, envíalo otra vez.',
  refusedBefore:
    'Este formulario ya se había enviado y rechazado, y no se ha cambiado nada. Envíalo otra vez.',
  checkAmount: 'Revisa el importe.',
}
