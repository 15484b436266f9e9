/**
 * Kafka: {@link io.carillon.kafka.KafkaRelay} sends the events of a topic to Kafka, and
 * {@link io.carillon.kafka.KafkaSource} publishes the records of a Kafka topic as events. The leases, cursors and
 * positions are in the library.
 */
@NullMarked
package io.carillon.kafka;

import org.jspecify.annotations.NullMarked;
