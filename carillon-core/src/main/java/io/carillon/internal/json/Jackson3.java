package io.carillon.internal.json;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Month;
import java.time.Year;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.ToStringSerializer;

/**
 * Jackson 3. Each feature that decides how a value is written or read is set here and in {@link Jackson2}, because the
 * two have different defaults.
 */
final class Jackson3 implements JsonLibrary {
    static {
        // Initialised before any payload is written: an initialiser that meets a full stack leaves its class unusable.
        Objects.requireNonNull(TokenStreamLocation.NA);
    }

    private final JsonMapper mapper = JsonMapper.builder(JsonFactory.builder()
                    .streamWriteConstraints(StreamWriteConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .build())
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxStringLength(MAX_TEXT_LENGTH)
                            .maxNumberLength(MAX_NUMBER_LENGTH)
                            .build())
                    .build())
            // Jackson 3 writes numbers for months, whatever the format.
            .addModule(new SimpleModule("io.carillon").addSerializer(Month.class, ToStringSerializer.instance))
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(
                    DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
                    DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
            .annotationIntrospector(new RecordOrder())
            .enable(
                    MapperFeature.ALLOW_VOID_VALUED_PROPERTIES,
                    MapperFeature.DETECT_PARAMETER_NAMES,
                    MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .disable(
                    MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS,
                    MapperFeature.DEFAULT_VIEW_INCLUSION,
                    MapperFeature.FIX_FIELD_NAME_UPPER_CASE_PREFIX,
                    MapperFeature.SORT_CREATOR_PROPERTIES_FIRST,
                    MapperFeature.USE_GETTERS_AS_SETTERS)
            .changeDefaultVisibility(
                    visible -> visible.withCreatorVisibility(Visibility.ANY).withSetterVisibility(Visibility.ANY))
            .withConfigOverride(Year.class, as -> as.setFormat(JsonFormat.Value.forShape(JsonFormat.Shape.STRING)))
            .enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
            .disable(
                    DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE,
                    DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS,
                    DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .disable(EnumFeature.READ_ENUMS_USING_TO_STRING, EnumFeature.WRITE_ENUMS_USING_TO_STRING)
            .build();

    @Override
    public byte[] write(Object value) throws JsonFailure {
        try {
            return mapper.writeValueAsBytes(value);
        } catch (StreamConstraintsException tooDeep) {
            throw JsonFailure.tooDeep(tooDeep.getOriginalMessage(), tooDeep);
        } catch (JacksonException failure) {
            throw JsonFailure.of(failure.getOriginalMessage(), failure);
        }
    }

    @Override
    public <T> @Nullable T read(byte[] json, Class<T> type) throws JsonFailure {
        try {
            return mapper.readValue(json, type);
        } catch (JacksonException failure) {
            throw JsonFailure.of(failure.getOriginalMessage(), failure);
        }
    }

    @Override
    public @Nullable Object toTree(Object value) throws JsonFailure {
        try {
            return mapper.convertValue(value, Object.class);
        } catch (JacksonException failure) {
            throw JsonFailure.of(failure.getOriginalMessage(), failure);
        }
    }

    /** The components of records keep their order; all other properties are sorted, because a JVM may shuffle them. */
    private static final class RecordOrder extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1L;

        @Override
        public String @Nullable [] findSerializationPropertyOrder(MapperConfig<?> config, AnnotatedClass type) {
            String[] annotated = super.findSerializationPropertyOrder(config, type);
            return annotated == null ? RecordComponents.names(type.getRawType()) : annotated;
        }
    }
}
