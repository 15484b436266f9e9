package io.carillon.webhook;

/**
 * Called for each delivery of a run, on the thread of the attempt and before the outcome of the run is stored.
 * Exceptions are logged and have no other effect.
 */
@FunctionalInterface
public interface DeliveryListener {
    /**
     * Called after a delivery was sent or held back. On {@link Verdict#GONE} the owner of the webhook
     * should disable it.
     */
    void onDelivery(DeliveryMetadata metadata, WebhookTarget target, Delivery delivery);
}
