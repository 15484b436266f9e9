package io.carillon.store;

import java.time.Instant;
import java.util.List;

/** What the head of the queue looks like. {@code full}: there is more behind it that was not looked at; {@code suspects}: runs wait to be tried alone. */
public record Look(List<LaneDue> lanes, Instant now, boolean full, boolean suspects) {
    public Look {
        lanes = List.copyOf(lanes);
    }
}
