package io.carillon.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.event.Event;
import io.carillon.run.Payload;
import java.time.format.DateTimeFormatter;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * The headers of the Kafka binding of CloudEvents 1.0 in binary mode: the value of the record is the data. The
 * headers of the publisher keep their names, none of which is a name of CloudEvents.
 */
record CloudEventHeaders(String source) {
    Headers of(Event<Payload> event) {
        Headers headers = new RecordHeaders();
        add(headers, "ce_specversion", "1.0");
        add(headers, "ce_id", event.id().toString());
        add(headers, "ce_type", event.type());
        add(headers, "ce_source", source);
        add(headers, "ce_time", DateTimeFormatter.ISO_INSTANT.format(event.publishedAt()));
        String key = event.key();
        if (key != null) add(headers, "ce_partitionkey", key);
        add(
                headers,
                "content-type",
                event.data().codec().equals("json") ? "application/json" : "application/octet-stream");
        event.headers().forEach((name, value) -> add(headers, name, value));
        return headers;
    }

    private static void add(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(UTF_8));
    }
}
