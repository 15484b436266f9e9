package io.carillon.engine;

import io.carillon.value.Uuid7;
import java.util.UUID;

/** Which node this engine is right now. An id is never used again: who was declared dead comes back as somebody else. */
final class Incarnation {
    private volatile UUID id = Uuid7.next();

    UUID id() {
        return id;
    }

    /** Becomes somebody else, if it still is who it was; true: it was this call that did it. */
    synchronized boolean rebirth(UUID old) {
        if (!id.equals(old)) return false;
        id = Uuid7.next();
        return true;
    }
}
