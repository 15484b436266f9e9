package io.carillon.webhook;

import io.carillon.seal.Secret;
import java.util.List;

/** Where secrets come from when a delivery needs them. Thread-safe; asked at every attempt, so that a rotation is seen at once. */
@FunctionalInterface
public interface SecretSource {
    /** The values of a secret of a project, newest first; two while it is being rotated, none where it is unknown. */
    List<Secret> find(String project, String name);

    /** Knows none: for webhooks that are neither signed nor need a secret header. */
    static SecretSource none() {
        return (project, name) -> List.of();
    }
}
