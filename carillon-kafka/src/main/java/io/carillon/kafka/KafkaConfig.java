package io.carillon.kafka;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.CommonClientConfigs;

/** Checks the client settings that a user gives. Values are not shown: some are secrets. */
final class KafkaConfig {
    private KafkaConfig() {}

    /** Returns a copy without null values. Rejects settings that Carillon sets itself. */
    static Map<String, Object> checked(String what, Map<String, ?> config, Set<String> reserved) {
        Map<String, Object> copy = new HashMap<>();
        config.forEach((name, value) -> {
            if (reserved.contains(name))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "The setting '%s' must not be set for %s, because Carillon sets it. Remove it."
                                .formatted(name, what));
            if (value != null) copy.put(name, value);
        });
        Object servers = copy.get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG);
        if (servers == null || servers.toString().isBlank())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The setting 'bootstrap.servers' is missing for %s. Set it to host:port of at least one broker."
                            .formatted(what));
        return copy;
    }

    /** Rejects names that no Kafka topic can have. */
    static String checkTopic(String topic) {
        boolean valid = topic.matches("[a-zA-Z0-9._-]{1,249}") && !topic.equals(".") && !topic.equals("..");
        if (!valid)
            throw new CarillonException(
                    ErrorCode.INVALID_NAME,
                    ("The Kafka topic '%s' is not valid. Use 1 to 249 characters of a-z, A-Z, 0-9, dot, underscore and"
                                    + " hyphen.")
                            .formatted(topic.length() > 60 ? topic.substring(0, 60) + "…" : topic));
        return topic;
    }
}
