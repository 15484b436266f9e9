/**
 * Relays to Kafka and sources from it, on a real broker in this JVM. {@link io.carillon.it.kafka.KafkaBroker} is the
 * only class that uses internals of Kafka.
 */
package io.carillon.it.kafka;
